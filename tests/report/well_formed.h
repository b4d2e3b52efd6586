#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearsay::report {

/// What is wrong with a page, or "": every tag is closed in order, attributes are quoted, and no
/// '<' or '>' appears in the text. Stricter than HTML; the texts of <style> and <script> are
/// skipped.
inline std::string misfit_of(std::string_view html) {
  constexpr std::string_view kDoctype = "<!DOCTYPE html>\n";
  if (!html.starts_with(kDoctype)) return "no doctype";
  html.remove_prefix(kDoctype.size());
  std::vector<std::string> open;
  while (!html.empty()) {
    const std::size_t begin = html.find('<');
    if (html.substr(0, begin).find('>') != std::string_view::npos) {
      return "a '>' in text: " + std::string(html.substr(0, 60));
    }
    if (begin == std::string_view::npos) break;
    const std::size_t end = html.find('>', begin);
    if (end == std::string_view::npos) return "a tag without end";
    std::string_view tag = html.substr(begin + 1, end - begin - 1);
    html.remove_prefix(end + 1);
    if (tag.find('<') != std::string_view::npos) return "a '<' in tag " + std::string(tag);
    std::size_t quotes = 0;
    for (char c : tag) quotes += c == '"';
    if (quotes % 2 != 0) return "an open quote in " + std::string(tag);
    const bool closing = tag.starts_with('/');
    const std::string name(tag.substr(closing, tag.find_first_of(" /", closing) - closing));
    if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz123") != name.npos) {
      return "a strange tag: " + std::string(tag);
    }
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (name == "style" || name == "script") {
      const std::size_t over = html.find("</" + name + ">");
      if (over == std::string_view::npos) return "<" + name + "> stays open";
      html.remove_prefix(over + name.size() + 3);
    } else if (!tag.ends_with('/') && name != "meta") {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

}  // namespace hearsay::report
