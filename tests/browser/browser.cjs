'use strict';
// Shared by all page tests: a browser, pages that collect errors, and a check whether a canvas
// shows something.
const fs = require('node:fs');
const path = require('node:path');
const {pathToFileURL} = require('node:url');
const {chromium} = require('playwright-core');

const pages = process.env.HEARSAY_PAGES;
const shots = path.join(pages, 'screenshots');  // for inspection, never compared

/** Starts a browser before the tests of a file and stops it after them. */
function with_browser({before, after}) {
  const holder = {};
  before(async () => {
    fs.mkdirSync(shots, {recursive: true});
    // Only our own pages are opened, and containers may not allow Chromium's sandbox.
    holder.browser = await chromium.launch(
        {executablePath: process.env.HEARSAY_CHROMIUM, args: ['--no-sandbox']});
  });
  after(() => holder.browser.close());
  return holder;
}

/** A page at a URL, or of a file of $HEARSAY_PAGES, with all that it asked for and complained of. */
async function open(browser, where, options = {}) {
  const url = where.includes('://') ? where : pathToFileURL(path.join(pages, where)).href;
  const context = await browser.newContext({viewport: {width: 1100, height: 800}, ...options});
  const page = await context.newPage();
  page.complaints = [];
  page.asked_for = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('requestfailed', (request) => page.complaints.push(`failed: ${request.url()}`));
  page.on('dialog', (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => page.asked_for.push(request.url()));
  await page.goto(url, {waitUntil: 'load'});
  return page;
}

/** Charts are made when they come near: scrolls through the page until every visible one is there. */
async function draw_all(page) {
  await page.evaluate(async () => {
    for (const canvas of document.querySelectorAll('figure.chart canvas')) {
      if (!canvas.checkVisibility()) continue;  // in a collapsed part
      canvas.scrollIntoView({block: 'center'});
      for (let tries = 0; !Chart.getChart(canvas); ++tries) {
        if (tries === 1000) throw new Error(`${canvas.closest('figure').id} is never drawn`);
        await new Promise((done) => setTimeout(done, 10));
      }
      await new Promise((done) => requestAnimationFrame(done));
    }
    window.scrollTo(0, 0);
  });
}

/** Of every visible chart: id, axis titles, how many points it has, and how many colours its pixels. */
function charts(page) {
  return page.evaluate(() => [...document.querySelectorAll('figure.chart canvas')]
      .filter((canvas) => canvas.checkVisibility())
      .map((canvas) => {
        const chart = Chart.getChart(canvas);
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
        copy.drawImage(canvas, 0, 0);
        const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
        const colours = new Map();
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3] < 200) continue;
          const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
          colours.set(colour, (colours.get(colour) || 0) + 1);
        }
        const axes = chart.options.scales;
        return {
          id: canvas.closest('figure').id,
          titles: [axes.x, axes.y].map((axis) => (axis.title.display ? axis.title.text : '')),
          x_type: axes.x.type,
          points: chart.data.datasets.reduce((sum, set) => sum + set.data.length, 0),
          // One colour is that of frame and text; curves have others.
          colours: [...colours.values()].filter((pixels) => pixels >= 20).length,
        };
      }));
}

module.exports = {pages, shots, with_browser, open, draw_all, charts};
