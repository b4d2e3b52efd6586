'use strict';
// The page of one run, opened from disk.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const {execSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {pages, shots, with_browser, open, draw_all, charts} = require('./browser.cjs');

const holder = with_browser({before, after});

for (const name of ['single', 'link', 'cycle', 'many', 'crowd', 'device', 'fleet', 'not-finished']) {
  test(`${name}.html shows all that it holds, and asks for nothing`, async () => {
    const page = await open(holder.browser, `${name}.html`);
    await draw_all(page);
    const all = await charts(page);
    assert.ok(all.length >= 4, `${all.length} charts`);
    for (const chart of all) {
      assert.ok(chart.points > 0, `${chart.id} has points`);
      assert.ok(chart.colours >= 2, `${chart.id} has drawn pixels in ${chart.colours} colours`);
      for (const title of chart.titles) assert.doesNotMatch(title, /\(count\)|no unit/);
      assert.ok(chart.titles[1].length > 0, `${chart.id} names what it shows`);
    }
    assert.deepEqual(page.complaints, []);
    assert.equal(page.asked_for.length, 1, 'the page itself');
    await page.screenshot({path: path.join(shots, `${name}.png`), fullPage: true});
    await page.context().close();
  });
}

test('the reader chooses what curves are drawn against', async () => {
  const page = await open(holder.browser, 'link.html');
  await draw_all(page);
  const seen = {};
  for (const axis of ['round', 'bytes', 'simulated']) {
    await page.locator(`.segments label:has(input[value="${axis}"])`).click();
    seen[axis] = (await charts(page)).find((chart) => chart.id === 'chart-accuracy');
    assert.ok(seen[axis].points > 0 && seen[axis].colours >= 2, axis);
  }
  assert.match(seen.round.titles[0], /round/i);
  assert.match(seen.bytes.titles[0], /\(B/);
  assert.equal(seen.bytes.x_type, 'logarithmic');
  assert.match(seen.simulated.titles[0], /simulated.*\(s\)/i);
  assert.deepEqual(page.complaints, []);

  const without_link = await open(holder.browser, 'single.html');
  assert.equal(await without_link.locator('input[name="axis"][value="simulated"]').count(), 0);
  assert.equal(await without_link.locator('input[name="axis"][value="bytes"]').count(), 1);
});

test('curves are hidden and shown by their names', async () => {
  const page = await open(holder.browser, 'single.html');
  await draw_all(page);
  const pixels = async () => {
    await page.mouse.move(0, 0);  // a curve whose name is pointed at fades the others
    return (await charts(page)).find((chart) => chart.id === 'chart-accuracy').colours;
  };
  const before = await pixels();
  const buttons = page.locator('#chart-accuracy .legend button');
  const count = await buttons.count();
  assert.ok(count >= 5, `${count} curves: four peers and their average`);
  for (let i = 0; i < count; ++i) await buttons.nth(i).click();
  assert.ok(await pixels() < before, 'no curve is left');
  for (let i = 0; i < count; ++i) await buttons.nth(i).click();
  assert.equal(await pixels(), before);
});

test('a chart turns logarithmic and back', async () => {
  const page = await open(holder.browser, 'single.html');
  await draw_all(page);
  const type = () => page.evaluate(
      () => Chart.getChart(document.querySelector('#chart-loss canvas')).options.scales.y.type);
  const before = await type();
  await page.locator('#chart-loss .switch').click();
  assert.notEqual(await type(), before);
  await page.locator('#chart-loss .switch').click();
  assert.equal(await type(), before);
});

test('the page says where its numbers come from, and how to get them again', async () => {
  const page = await open(holder.browser, 'top0.1.html');
  const title = await page.locator('h1').textContent();
  assert.equal(title, 'scsp on digits, 4 peers', 'a title is no path');
  const facts = await page.locator('.provenance').textContent();
  assert.match(facts, /top0\.1/);
  assert.match(facts, /\d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  assert.ok(facts.includes(os.hostname()));
  const summary = (name) => JSON.parse(fs.readFileSync(path.join(pages, name, 'summary.json'), 'utf8'));
  assert.ok(facts.includes(summary('top0.1').version));
  await page.locator('.repeat summary').click();
  const command = await page.locator('.repeat pre').textContent();
  assert.match(command, /^hearsay train --/);
  execSync(`${command.replace('hearsay', process.env.HEARSAY_CLI)} --quiet --out again`, {cwd: pages, stdio: 'ignore'});
  assert.equal(summary('again').models_sha256, summary('top0.1').models_sha256, 'the same models');
  assert.equal(summary('again').config_hash, summary('top0.1').config_hash);

  const fleet = await open(holder.browser, 'fleet.html');
  assert.ok((await fleet.locator('.provenance').textContent()).includes(os.hostname()), 'of its devices');
  assert.equal(await fleet.locator('.repeat').count(), 0, 'a fleet is no command');
});

test('many peers: a matrix beside the graph, numbers that can be read, and no hole', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(holder.browser, 'crowd.html', {viewport: {width: 1280, height: 800}, colorScheme});
    assert.equal(await page.locator('svg.graph').count(), 1);
    assert.equal(await page.locator('svg.matrix').count(), 1);
    assert.equal(await page.locator('svg.histogram').count(), 64);
    const seen = await page.evaluate(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
      const fill = (selector) => brightness(getComputedStyle(document.querySelector(selector)).fill);
      const graph = document.querySelector('svg.graph');
      const scale = graph.getBoundingClientRect().width / graph.viewBox.baseVal.width;
      return {
        graph: box('#graph').width, classes: box('#classes').width, height: box('#classes').height,
        letters: scale * Number.parseFloat(getComputedStyle(graph.querySelector('text')).fontSize),
        text: fill('svg.graph text'), cell: fill('.cell'), peer: fill('.peer'),
        card: brightness(getComputedStyle(document.querySelector('figure')).backgroundColor),
      };
    });
    assert.equal(seen.graph, seen.classes, 'each as wide as the page');
    assert.ok(seen.height < 900, `64 histograms in ${seen.height} pixels`);
    assert.ok(seen.letters >= 10, `letters of ${seen.letters} pixels`);
    for (const what of ['text', 'cell', 'peer']) assert.ok(Math.abs(seen[what] - seen.card) > 150, `${what}, ${colorScheme}`);
    await page.context().close();
  }
});

test('a graph is drawn with an arrow an edge, and each phase of one that changes', async () => {
  const ring = await open(holder.browser, 'single.html');
  assert.equal(await ring.locator('svg.graph').count(), 1);
  assert.equal(await ring.locator('svg.graph .edge').count(), 4);
  assert.equal(await ring.locator('svg.graph .peer').count(), 4);
  const cycle = await open(holder.browser, 'cycle.html');
  assert.equal(await cycle.locator('svg.graph').count(), 3);
  assert.equal(await cycle.locator('svg.graph .edge').count(), 12);
});

test('edges are as wide as the bytes that they carried', async () => {
  const units = {B: 1, kB: 1e3, MB: 1e6};
  const edges_of = async (name) => {
    const page = await open(holder.browser, name);
    const edges = await page.locator('svg.graph .edge').evaluateAll((all) => all.map((edge) => ({
      width: Number.parseFloat(getComputedStyle(edge).strokeWidth),
      title: edge.querySelector('title').textContent,
    })));
    return edges.map(({width, title}) => {
      const told = title.match(/^\d+ to \d+, weight [\d.]+, ([\d.]+) (B|kB|MB)$/);
      assert.ok(told, `the bytes are told too: ${title}`);
      return {width, bytes: Number(told[1]) * units[told[2]]};
    });
  };
  const alike = await edges_of('single.html');
  assert.equal(new Set(alike.map((edge) => edge.width)).size, 1);
  assert.equal(new Set(alike.map((edge) => edge.bytes)).size, 1);

  // Its graphs were used for different numbers of rounds, and some edges are in two of them.
  const edges = await edges_of('cycle.html');
  const most = Math.max(...edges.map((edge) => edge.bytes));
  assert.ok(new Set(edges.map((edge) => edge.width)).size >= 4);
  assert.equal(Math.max(...edges.map((edge) => edge.width)), 5);
  for (const {width, bytes} of edges) {  // bytes are shown with three digits
    assert.ok(Math.abs(width - Math.max(1, 5 * bytes / most)) < 0.06, `${width} for ${bytes} of ${most}`);
  }
});

test('who holds which classes, and what a peer costs, are told', async () => {
  const page = await open(holder.browser, 'single.html');
  assert.equal(await page.locator('table.counts tbody tr').count(), 4);
  await draw_all(page);
  for (const what of ['memory', 'compute', 'energy']) {
    assert.equal(await page.locator(`#chart-cost-${what} canvas`).count(), 1, what);
  }
  const quadratic = await open(holder.browser, 'many.html');
  assert.equal(await quadratic.locator('[id*="chart-cost"]').count(), 0, 'no network, no cost');
});

test('without a script the tables and the graph are there', async () => {
  const page = await open(holder.browser, 'single.html', {javaScriptEnabled: false});
  assert.ok(await page.locator('table tbody tr').count() > 0);
  assert.ok(await page.locator('svg.graph').isVisible());
});
