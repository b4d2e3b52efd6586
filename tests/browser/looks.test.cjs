'use strict';
// On a phone, in dark mode, in print, by keyboard.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const {shots, with_browser, open, draw_all, charts} = require('./browser.cjs');

const holder = with_browser({before, after});

for (const name of ['single', 'several', 'many', 'sweep', 'axes', 'crowd', 'device', 'fleet']) {
  test(`${name}.html fits a phone`, async () => {
    const page = await open(holder.browser, `${name}.html`,
                            {viewport: {width: 375, height: 700}, deviceScaleFactor: 2, isMobile: true, hasTouch: true});
    await draw_all(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 375, 'nothing is wider than the screen');
    const small = await page.evaluate(() => [...document.querySelectorAll('body *')]
        .filter((node) => node.checkVisibility() && !node.closest('svg') &&
                          [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()))
        .filter((node) => Number.parseFloat(getComputedStyle(node).fontSize) < 12)
        .map((node) => node.outerHTML.slice(0, 80)));
    assert.deepEqual(small, [], 'all words can be read');
    const low = await page.evaluate(() => [...document.querySelectorAll('button, summary, .segments label')]
        .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 32)
        .map((node) => node.outerHTML.slice(0, 80)));
    assert.deepEqual(low, [], 'a finger hits all buttons');
    assert.deepEqual(page.complaints, []);
    await page.screenshot({path: path.join(shots, `${name}-phone.png`), fullPage: true});
    await page.context().close();
  });
}

test('the page turns dark with the reader\'s screen, curves too', async () => {
  const page = await open(holder.browser, 'single.html');
  await draw_all(page);
  const look = () => page.evaluate(() => {
    const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    const style = getComputedStyle(document.body);
    const chart = Chart.getChart(document.querySelector('#chart-accuracy canvas'));
    return {paper: brightness(style.backgroundColor), ink: brightness(style.color),
            curve: chart.data.datasets[0].borderColor, axis: chart.options.scales.x.ticks.color};
  });
  const light = await look();
  await page.emulateMedia({colorScheme: 'dark'});
  await page.waitForFunction((old) => Chart.getChart(document.querySelector('#chart-accuracy canvas'))
      .data.datasets[0].borderColor !== old, light.curve);
  const dark = await look();
  assert.ok(light.paper > 600 && light.ink < 200);
  assert.ok(dark.paper < 150 && dark.ink > 500);
  assert.notEqual(dark.axis, light.axis);
  for (const chart of await charts(page)) assert.ok(chart.colours >= 2, chart.id);
  await page.screenshot({path: path.join(shots, 'single-dark.png'), fullPage: true});
});

test('all charts are printed, also those never scrolled to', async () => {
  const page = await open(holder.browser, 'single.html', {colorScheme: 'dark'});
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({media: 'print'});
  for (const chart of await charts(page)) assert.ok(chart.colours >= 2, `${chart.id} is on paper`);
  const pdf = await page.pdf({path: path.join(shots, 'single.pdf'), printBackground: true});
  const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g).length;
  assert.ok(sheets >= 2 && sheets <= 12, `${sheets} sheets`);
  assert.deepEqual(page.complaints, []);
});

test('everything can be reached and used by keyboard', async () => {
  const page = await open(holder.browser, 'several.html');
  const wanted = await page.evaluate(() => document.querySelectorAll('table.sortable thead button').length);
  const reached = new Set();
  let chooser = false;
  for (let k = 0; k < wanted + 12; ++k) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const node = document.activeElement;
      return {axis: node.name === 'axis', head: node.closest('th') ? node.textContent : ''};
    });
    chooser = chooser || at.axis;
    if (at.head) reached.add(at.head);
  }
  assert.ok(chooser, 'the axis');
  assert.ok(reached.size >= wanted - 1, `${reached.size} of ${wanted} heads`);
  await page.locator('table.sortable thead button').nth(1).focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('table.sortable th[aria-sort="ascending"]').count(), 1);
});
