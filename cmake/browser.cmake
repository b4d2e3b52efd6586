# Requirements of tests/browser: node, a headless Chromium, and Playwright, which ./test.sh installs into build/browser.
# HEARSAY_BROWSER AUTO skips these tests where something is missing, ON is an error then.
hearsay_choice(HEARSAY_BROWSER "Tests of pages in a browser")

set(HEARSAY_BROWSER_FOUND OFF)
if(HEARSAY_BROWSER STREQUAL "OFF" OR HEARSAY_SANITIZE)  # a browser runs none of our code
  return()
endif()
find_program(HEARSAY_NODE NAMES node nodejs DOC "node, for tests of pages")
find_program(HEARSAY_CHROMIUM NAMES chromium-headless-shell chromium DOC "Chromium, for tests of pages")
find_path(HEARSAY_PLAYWRIGHT playwright-core/package.json NO_DEFAULT_PATH
          PATHS ${PROJECT_SOURCE_DIR}/build/browser/node_modules
          DOC "node_modules that hold playwright-core, for tests of pages")
if(HEARSAY_NODE AND HEARSAY_CHROMIUM AND HEARSAY_PLAYWRIGHT)
  set(HEARSAY_BROWSER_FOUND ON)
elseif(HEARSAY_BROWSER STREQUAL "ON")
  message(FATAL_ERROR "HEARSAY_BROWSER is ON, but something is missing: node '${HEARSAY_NODE}', "
                      "Chromium '${HEARSAY_CHROMIUM}', Playwright '${HEARSAY_PLAYWRIGHT}'; ./test.sh installs them")
endif()
message(STATUS "Tests of pages in a browser: ${HEARSAY_BROWSER_FOUND}")
