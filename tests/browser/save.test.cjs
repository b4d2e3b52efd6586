'use strict';
// Every chart as an SVG and a PNG file.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {shots, with_browser, open, draw_all} = require('./browser.cjs');

const holder = with_browser({before, after});

/** What a button gives. */
async function save(page, selector) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(selector).click()]);
  const to = path.join(shots, download.suggestedFilename());
  await download.saveAs(to);
  return {name: download.suggestedFilename(), bytes: fs.readFileSync(to)};
}

/** The SVG in a page of its own, where all must be drawn without the style of ours. */
async function look_at({name}) {
  const page = await open(holder.browser, path.join('screenshots', name));
  const seen = await page.evaluate(() => ({
    root: document.documentElement.tagName,
    words: [...document.querySelectorAll('text')].map((text) => text.textContent),
    curves: document.querySelectorAll('path[fill="none"]').length,
    classes: document.querySelectorAll('[class]').length,
    background: document.querySelector('rect').getAttribute('fill'),
  }));
  await page.context().close();
  return seen;
}

test('every figure has its buttons, and every SVG is one by itself', async () => {
  for (const name of ['single.html', 'sweep.html', 'crowd.html']) {
    const page = await open(holder.browser, name, {acceptDownloads: true, colorScheme: 'dark'});
    await draw_all(page);
    const ids = await page.evaluate(() => [...document.querySelectorAll('figure')]
        .filter((figure) => figure.checkVisibility() && figure.querySelector('canvas, .graph, .histogram')).map((figure) => figure.id));
    assert.ok(ids.length >= 6, name);
    for (const id of ids) {
      const file = await save(page, `#${id} .save-svg`);
      assert.equal(file.name, `${id.replace('chart-', '')}.svg`);
      const seen = await look_at(file);
      assert.equal(seen.root, 'svg', id);
      assert.ok(seen.words.includes(await page.locator(`#${id} h3`).textContent()), `${id} has its title`);
      assert.equal(seen.background, '#ffffff', 'paper, also from a dark screen');
      assert.equal(seen.classes, 0, 'no style of the page is needed');
    }
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
});

test('an SVG has the axes, the visible curves and their names', async () => {
  const page = await open(holder.browser, 'single.html', {acceptDownloads: true});
  await draw_all(page);
  const all = await look_at(await save(page, '#chart-accuracy .save-svg'));
  for (const words of ['Test accuracy (%)', 'Rounds', 'averaged model', 'peer 3']) assert.ok(all.words.includes(words), words);
  assert.equal(all.curves, 6, 'four peers, their mean, the averaged model');
  await page.locator('#chart-accuracy .legend button').filter({hasText: 'peer 3'}).click();
  const fewer = await look_at(await save(page, '#chart-accuracy .save-svg'));
  assert.equal(fewer.curves, 5);
  assert.ok(!fewer.words.includes('peer 3'));
});

test('a PNG shows the same, sharp enough for paper', async () => {
  const page = await open(holder.browser, 'single.html', {acceptDownloads: true});
  await draw_all(page);
  const {name, bytes} = await save(page, '#chart-loss .save-png');
  assert.equal(name, 'loss.png');
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const shown = await page.evaluate(() => Chart.getChart(document.querySelector('#chart-loss canvas')).width);
  assert.equal(width, 3 * Math.round(shown));
  assert.ok(height > width / 3);
  const colours = await page.evaluate(async (data) => {
    const image = await createImageBitmap(await (async () => {
      const raw = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
      return new Blob([raw], {type: 'image/png'});
    })());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height).data;
    const counts = new Map();
    for (let i = 0; i < pixels.length; i += 4) {
      const key = `${pixels[i]} ${pixels[i + 1]} ${pixels[i + 2]}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    return [...counts.values()].filter((count) => count > 200).length;
  }, bytes.toString('base64'));
  assert.ok(colours >= 4, `${colours} colours`);
  assert.deepEqual(page.complaints, []);
});
