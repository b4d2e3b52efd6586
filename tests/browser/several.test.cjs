'use strict';
// The page of several runs, and of a sweep with what its paper prints.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const {shots, with_browser, open, draw_all, charts} = require('./browser.cjs');

const holder = with_browser({before, after});

/** The cells of a column as they stand, by the number that each is sorted by (or its text). */
const column = (page, index) => page.locator('table.sortable').first().locator('tbody tr').evaluateAll(
    (rows, k) => rows.map((row) => {
      const {value} = row.cells[k].dataset;
      return value === undefined ? row.cells[k].textContent : Number(value);
    }), index);

for (const name of ['several', 'sweep', 'quick', 'axes']) {
  test(`${name}.html shows all that it holds, and asks for nothing`, async () => {
    const page = await open(holder.browser, `${name}.html`);
    await draw_all(page);
    const all = await charts(page);
    for (const id of [name === 'axes' ? 'distance' : 'accuracy', 'loss', 'divergence', 'scatter']) {
      assert.ok(all.some((chart) => chart.id === `chart-${id}`), id);
    }
    for (const chart of all) {
      assert.ok(chart.points > 0 && chart.colours >= 2, `${chart.id} is drawn`);
      assert.ok(chart.titles.some((title) => title.length > 0), `${chart.id} names its axes`);
    }
    assert.deepEqual(page.complaints, []);
    assert.equal(page.asked_for.length, 1);
    await page.screenshot({path: path.join(shots, `${name}.png`), fullPage: true});
    await page.context().close();
  });
}

test('a table of a sweep has no scrolling of its own', async () => {
  for (const name of ['sweep', 'quick', 'axes']) {
    const page = await open(holder.browser, `${name}.html`, {viewport: {width: 1280, height: 600}});
    const tables = await page.evaluate(() => [...document.querySelectorAll('.sheet .wide')].map(
        (wide) => [wide.scrollHeight - wide.clientHeight, wide.scrollWidth - wide.clientWidth]));
    assert.ok(tables.length >= 2);
    for (const [down, across] of tables) assert.ok(down <= 0 && across <= 0, `${name}: ${down} and ${across} pixels are hidden`);
    await page.context().close();
  }
});

test('no title is a path', async () => {
  const page = await open(holder.browser, 'several.html');
  for (const title of await page.locator('h1, h2, h3, details.run > summary').allTextContents()) {
    // Runs of one name have their directories in parentheses.
    assert.doesNotMatch(title.replace(/\([^)]*\)/g, ''), /[\w.]\/[\w.]/, title);
  }
});

test('every column sorts both ways, numbers as numbers, what is missing last', async () => {
  const page = await open(holder.browser, 'several.html');
  const heads = page.locator('table.sortable').first().locator('thead button');
  let numbers = 0;
  for (let k = 0; k < await heads.count(); ++k) {
    await heads.nth(k).click();
    const up = await column(page, k);
    await heads.nth(k).click();
    const down = await column(page, k);
    assert.deepEqual([...up].sort(), [...down].sort(), 'the same cells');
    const sorted = up.filter((value) => typeof value === 'number');
    if (sorted.length === 0) continue;
    ++numbers;
    assert.deepEqual(sorted, [...sorted].sort((a, b) => a - b));
    assert.deepEqual(down.filter((value) => typeof value === 'number'), [...sorted].reverse());
    assert.ok(up.slice(sorted.length).every((value) => typeof value !== 'number'));
    assert.ok(down.slice(sorted.length).every((value) => typeof value !== 'number'));
  }
  assert.ok(numbers >= 4, `${numbers} columns of numbers`);
});

test('what is damaged is named with its file and line, the others are shown', async () => {
  const page = await open(holder.browser, 'several.html');
  const problems = await page.locator('#problems').textContent();
  assert.match(problems, /damaged\/metrics\.jsonl, line 5/);
  assert.match(problems, /foreign\/config\.toml, line 2/);
  const names = await page.locator('details.run').allTextContents();
  for (const name of ['default', 'link', 'top0.1', 'top0.01', 'top0.001', 'damaged']) {
    assert.ok(names.some((shown) => shown.includes(name)), name);
  }
  assert.equal(names.length, 7, 'foreign is left out');
});

test('the front is of the runs that no other outdoes', async () => {
  const page = await open(holder.browser, 'several.html');
  const {points, fronts} = await page.evaluate(() => hearsay.data.scatter);
  assert.equal(fronts.length, 1, 'all runs have the same data');
  const front = fronts[0].points;
  assert.ok(points.length >= 5 && front.length >= 1);
  points.forEach((point, k) => {
    // Factors within 1 % of each other count as equal.
    const outdone = points.some((other) => other.x * 1.01 >= point.x && other.y >= point.y &&
                                           (other.x > point.x * 1.01 || other.y > point.y));
    if (!outdone) assert.ok(points.some((twin, i) => front.includes(i) && twin.x === point.x && twin.y === point.y));
    if (outdone) assert.ok(!front.includes(k), `${point.name} is outdone`);
  });
});

test("a paper's points are hollow, at the printed values", async () => {
  const page = await open(holder.browser, 'sweep.html');
  await draw_all(page);
  const sets = await page.evaluate(() => Chart.getChart(document.querySelector('#chart-scatter canvas'))
      .data.datasets.map((set) => ({label: set.label, fill: set.pointBackgroundColor, y: set.data.map((p) => p.y)})));
  const printed = sets.filter((set) => set.label.startsWith('printed'));
  assert.equal(printed.length, 1);
  assert.equal(printed[0].fill, 'transparent');
  assert.deepEqual(printed[0].y.sort(), [90.25, 91.5]);
  assert.equal(sets[0].y.length, 2, 'ours: a point a row, the mean over seeds');
  assert.match(await page.locator('body').textContent(), /A made-up paper, Table 1/);
  assert.equal(await page.locator('.banner:not(.warnings)').count(), 0);
});

test('a quick profile says that it is not the paper\'s data', async () => {
  const page = await open(holder.browser, 'quick.html');
  assert.match(await page.locator('.banner').first().textContent(), /Not the paper's data\./);
});
