'use strict';
// What a reader does with a chart: zoom, point at it, follow one curve of many.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const {with_browser, open, draw_all} = require('./browser.cjs');

const holder = with_browser({before, after});

/** The ends of both axes of a chart, and where its area lies on the screen. */
const view = (page, id) => page.evaluate((of) => {
  const canvas = document.querySelector(`#${of} canvas`);
  canvas.scrollIntoView({block: 'center'});
  const {scales: {x, y}, chartArea} = Chart.getChart(canvas), {left, top} = canvas.getBoundingClientRect();
  return {
    x: [x.min, x.max], y: [y.min, y.max],
    left: left + chartArea.left, right: left + chartArea.right, top: top + chartArea.top, bottom: top + chartArea.bottom,
  };
}, id);
const at = (area, right, down) => [area.left + right * (area.right - area.left), area.top + down * (area.bottom - area.top)];
const near = (a, b) => a.every((value, k) => Math.abs(value - b[k]) <= 1e-6 * Math.max(1, Math.abs(value)));

async function drag(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
  await page.mouse.move(...to);
  await page.mouse.up();
}

test('an accuracy axis begins where the curves are, not at chance', async () => {
  const page = await open(holder.browser, 'late.html');
  await draw_all(page);
  const {low, rest, start} = await page.evaluate(() => {
    const chart = Chart.getChart(document.querySelector('#chart-accuracy canvas'));
    const points = chart.data.datasets.flatMap((set) => set.data);
    return {
      low: chart.scales.y.min, rest: Math.min(...points.filter((p) => !p.start).map((p) => p.y)),
      start: Math.min(...points.filter((p) => p.start).map((p) => p.y)),
    };
  });
  assert.ok(start < 20 && rest > start + 10, `${start} before the first round, then at least ${rest}`);
  assert.ok(low > start && low <= rest, `the axis begins at ${low}`);
  const bytes = await page.evaluate(() => Chart.getChart(document.querySelector('#chart-bytes canvas')).scales.y.min);
  assert.equal(bytes, 0, 'what takes little room is shown');
});

test('a chart zooms to what is dragged over, and back', async () => {
  const page = await open(holder.browser, 'single.html');
  await draw_all(page);
  const reset = page.locator('#chart-loss .reset');
  assert.ok(await reset.isHidden());
  const all = await view(page, 'chart-loss');
  await drag(page, at(all, 0.25, 0.2), at(all, 0.75, 0.6));
  const part = await view(page, 'chart-loss');
  const wide = all.x[1] - all.x[0];
  assert.ok(near([0.25, 0.75].map((k) => all.x[0] + k * wide).map(Math.round), part.x.map(Math.round)), `${part.x} of ${all.x}`);
  assert.ok(part.y[0] > all.y[0] && part.y[1] < all.y[1]);
  assert.ok(await reset.isVisible());
  await reset.click();
  const again = await view(page, 'chart-loss');
  assert.ok(near(all.x, again.x) && near(all.y, again.y));
  assert.ok(await reset.isHidden());

  // Along one axis only; then a double click.
  await drag(page, at(again, 0.3, 0.5), at(again, 0.6, 0.51));
  const across = await view(page, 'chart-loss');
  assert.ok(near(all.y, across.y) && across.x[1] - across.x[0] < 0.5 * wide);
  await page.mouse.dblclick(...at(across, 0.5, 0.5));
  assert.ok(near(all.x, (await view(page, 'chart-loss')).x));

  // By keyboard, and a zoomed chart stays so as its names are hidden.
  await page.locator('#chart-loss canvas').focus();
  await page.keyboard.press('+');
  const half = await view(page, 'chart-loss');
  assert.ok(Math.abs(half.x[1] - half.x[0] - wide / 2) < 1e-6 * wide);
  await page.locator('#chart-loss .legend button').first().click();
  assert.ok(near(half.x, (await view(page, 'chart-loss')).x));
  await page.locator('#chart-loss canvas').focus();
  await page.keyboard.press('0');
  assert.ok(near(all.x, (await view(page, 'chart-loss')).x));
  assert.deepEqual(page.complaints, []);
});

test('pointing at a chart tells the value of every curve there', async () => {
  const page = await open(holder.browser, 'axes.html');
  await draw_all(page);
  const area = await view(page, 'chart-distance');
  await page.mouse.move(...at(area, 0.5, 0.5));
  const readout = page.locator('.readout');
  await readout.waitFor();
  const names = await page.evaluate(() => Chart.getChart(document.querySelector('#chart-distance canvas'))
      .data.datasets.map((set) => set.label));
  assert.equal(names.length, 18);
  const told = await readout.locator('li span').allTextContents();
  assert.deepEqual([...told].sort(), [...names].sort());
  assert.match(await readout.locator('p').textContent(), /^round \d+$/);
  const values = await page.evaluate(() => [...document.querySelectorAll('.readout b')].map((b) => Number(b.textContent)));
  assert.deepEqual(values, [...values].sort((a, b) => b - a), 'the highest first');
  const box = await readout.boundingBox();
  assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 1100 && box.y + box.height <= 800, 'all of it can be seen');
  await page.mouse.move(5, 5);
  await readout.waitFor({state: 'hidden'});
  assert.deepEqual(page.complaints, []);
});

test('a legend is never taller than its chart, and shows one curve of many', async () => {
  for (const [name, options] of [['axes.html', {}], ['axes.html', {viewport: {width: 390, height: 800}}], ['single.html', {}]]) {
    const page = await open(holder.browser, name, options);
    await draw_all(page);
    const heights = await page.evaluate(() => [...document.querySelectorAll('figure.chart')].filter((f) => f.checkVisibility())
        .map((f) => [f.id, f.querySelector('.legend').offsetHeight, f.querySelector('.plot').offsetHeight]));
    for (const [id, legend, plot] of heights) assert.ok(legend <= plot / 2, `${id}: ${legend} beside ${plot}`);
    await page.context().close();
  }
  const page = await open(holder.browser, 'axes.html');
  await draw_all(page);
  const solid = () => page.evaluate(() => Chart.getChart(document.querySelector('#chart-distance canvas'))
      .data.datasets.filter((set) => set.borderColor.length === 7).map((set) => set.label));
  assert.equal((await solid()).length, 18);
  const entry = page.locator('#chart-distance .legend button').nth(5);
  await entry.hover();
  assert.deepEqual(await solid(), [await entry.textContent()]);
  await page.mouse.move(5, 5);
  assert.equal((await solid()).length, 18);
  const shown = () => page.evaluate(() => Chart.getChart(document.querySelector('#chart-distance canvas')).getVisibleDatasetCount());
  await page.locator('#chart-distance .legend .all').click();
  assert.equal(await shown(), 0);
  await entry.click();
  assert.equal(await shown(), 1);
  await page.locator('#chart-distance .legend .all').click();
  assert.equal(await shown(), 18);
});

test('in a sweep colours are those of one axis, dashes those of the other, and no two rows look alike', async () => {
  const page = await open(holder.browser, 'axes.html');
  await draw_all(page);
  const looks = await page.evaluate(() => Chart.getChart(document.querySelector('#chart-distance canvas')).data.datasets
      .map((set) => ({label: set.label, colour: set.borderColor, dash: set.borderDash.join(' '), mark: set.pointStyle})));
  const by = (key, part) => new Map(looks.map((look) => [look.label.split(', ')[part].trim(), look[key]]));
  assert.equal(new Set(looks.map(({colour, dash}) => `${colour} ${dash}`)).size, 18);
  assert.equal(new Set(by('colour', 0).values()).size, 6);
  assert.equal(new Set(looks.map(({dash}) => dash)).size, 3);
  assert.match(await page.locator('#chart-distance figcaption').textContent(), /Colour: compressor; dash: graph\./);
});

test('names of points cover neither each other nor a point', async () => {
  for (const name of ['axes.html', 'several.html', 'sweep.html']) {
    const page = await open(holder.browser, name);
    await draw_all(page);
    const {labels, points, area} = await page.evaluate(() => {
      const chart = Chart.getChart(document.querySelector('#chart-scatter canvas'));
      return {
        labels: chart.$labels, area: chart.chartArea,
        points: chart.data.datasets.flatMap((set, k) => (set.type === 'line' ? [] : chart.getDatasetMeta(k).data.map(({x, y}) => ({x, y})))),
      };
    });
    assert.ok(labels.length >= 2, `${name}: ${labels.length} names`);
    labels.forEach(({name: text, box}, k) => {
      assert.ok(box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom, text);
      for (const other of labels.slice(0, k).map((label) => label.box)) {
        const apart = box.right <= other.left || other.right <= box.left || box.bottom <= other.top || other.bottom <= box.top;
        assert.ok(apart, `${name}: ${text} covers another name`);
      }
      for (const {x, y} of points) {
        assert.ok(!(x > box.left && x < box.right && y > box.top && y < box.bottom), `${name}: ${text} covers a point`);
      }
    });
  }
});

test('labels of a logarithmic axis do not touch, on a phone neither', async () => {
  for (const width of [390, 1100]) {
    const page = await open(holder.browser, 'single.html', {viewport: {width, height: 800}});
    await draw_all(page);
    await page.evaluate(() => {
      const item = hearsay.shown.get('chart-accuracy-bytes');
      item.zoom = {x: [590e3, 2.6e6], y: [0, 100]};  // digits of two decades, unevenly
      item.rebuild();
    });
    const axes = await page.evaluate(() => [...document.querySelectorAll('figure.chart canvas')].filter((c) => c.checkVisibility())
        .flatMap((canvas) => {
          const chart = Chart.getChart(canvas);
          return Object.values(chart.scales).filter((scale) => scale.type === 'logarithmic').map((scale) => {
            const across = scale.isHorizontal();
            return {
              id: `${canvas.closest('figure').id} ${scale.id}`,
              ends: scale.ticks.map((tick, k) => {
                const half = across ? chart.ctx.measureText(tick.label).width / 2 : 6;
                return [scale.getPixelForTick(k) - half, scale.getPixelForTick(k) + half];
              }),
            };
          });
        }));
    assert.ok(axes.length >= 3);
    for (const {id, ends} of axes) {
      assert.ok(ends.length >= 2, `${id} has ticks`);
      ends.sort((a, b) => a[0] - b[0]).slice(1).forEach(([left], k) => assert.ok(left >= ends[k][1], `${id} at ${width}`));
    }
    await page.context().close();
  }
});
