'use strict';
// The page of a run in progress.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const {spawn} = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const {shots, with_browser, open, draw_all} = require('./browser.cjs');

const holder = with_browser({before, after});
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'hearsay-live-'));
after(() => fs.rmSync(scratch, {recursive: true, force: true}));

const forever = ['--rounds', '100000000'];

/** `hearsay train --live ...`: its URL, and how it ended. It leaves a core to the server and the browser. */
async function start(t, out, ...settings) {
  const child = spawn(process.env.HEARSAY_CLI, ['train', '--live', '0', '--model', 'mlp', '--threads', '1',
                                                '--out', path.join(scratch, out), ...settings]);
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.ended = new Promise((done) => child.on('close', (status, signal) => done({status, signal, said})));
  const url = await new Promise((done, fail) => {
    const listen = (text) => {
      said += text;
      const match = said.match(/(http:\/\/\S+)\n/);
      if (match) done(match[1]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('close', () => fail(new Error(`no address in: ${said}`)));
  });
  return {child, url};
}

/** Starts a run and holds it between its first evaluation and its end, by SIGSTOP: its server goes on. */
async function start_held(t, out, ...settings) {
  const pause = () => new Promise((done) => setTimeout(done, 5));
  for (let number = 1;; ++number) {  // try again if it ended before it was suspended
    const {child, url} = await start(t, `${out}-${number}`, ...settings);
    const file = (name) => path.join(scratch, `${out}-${number}`, name);
    const gone = () => child.exitCode !== null || child.signalCode !== null;
    const begun = () => fs.existsSync(file('metrics.jsonl')) && fs.statSync(file('metrics.jsonl')).size > 0;
    while (!gone() && !begun()) await pause();
    child.kill('SIGSTOP');
    while (!gone() && !/\) T/.test(fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await pause();
    if (!gone() && !fs.existsSync(file('summary.json'))) return {child, url};
    child.kill('SIGKILL');
    const {status, said} = await child.ended;
    if (status) throw new Error(`the run failed: ${said}`);
  }
}

/** A page of a server that takes its time. What never comes fails before ctest ends all without a word. */
const open_live = (url) => open({
  newContext: async (options) => {
    const context = await holder.browser.newContext(options);
    context.setDefaultTimeout(120_000);
    return context;
  },
}, url);

/** The status of a request, by a client that is no browser. */
const ask = (url, options = {}) => new Promise((done, fail) => {
  const request = http.request(url, options, (reply) => {
    reply.resume();
    reply.on('end', () => done(reply.statusCode));
  });
  request.on('error', fail);
  request.end();
});

const points = (page) => page.evaluate(
    () => Chart.getChart(document.querySelector('#chart-accuracy canvas')).data.datasets[0].data.length);

test('curves grow while the run goes on, without a reload; the end is told', async (t) => {
  // Few lines per second: after thousands the page is reloaded.
  const {child, url} = await start(t, 'grows', ...forever, '--evaluate', '500');
  const page = await open_live(url);
  await page.waitForFunction(() => document.querySelector('#chart-accuracy'));
  await draw_all(page);
  await page.evaluate(() => { window.never_reloaded = true; });
  const before = await points(page);
  await page.waitForFunction((count) => Chart.getChart(document.querySelector('#chart-accuracy canvas'))
      .data.datasets[0].data.length > count + 2, before);
  assert.ok(await page.evaluate(() => window.never_reloaded));
  await page.waitForFunction(() => /round [\d,]+ of [\d,]+/.test(document.querySelector('#live')?.textContent));
  const round = async () => Number((await page.locator('#live').textContent()).match(/round ([\d,]+)/)[1].replaceAll(',', ''));
  const first = await round();
  await page.waitForFunction((old) => {
    const match = document.querySelector('#live').textContent.match(/round ([\d,]+)/);
    return match && Number(match[1].replaceAll(',', '')) > old;
  }, first);
  await page.screenshot({path: path.join(shots, 'live.png'), fullPage: true});

  // What the reader zooms to stays while points come.
  const ends = () => page.evaluate(() => {
    const {x, y} = Chart.getChart(document.querySelector('#chart-accuracy canvas')).scales;
    return [x.min, x.max, y.min, y.max];
  });
  await page.locator('#chart-accuracy canvas').focus();
  await page.keyboard.press('+');
  const [zoomed, so_far] = [await ends(), await points(page)];
  await page.waitForFunction((count) => Chart.getChart(document.querySelector('#chart-accuracy canvas'))
      .data.datasets[0].data.length > count, so_far);
  assert.deepEqual(await ends(), zoomed);
  assert.ok(await page.evaluate(() => window.never_reloaded));
  assert.deepEqual(page.complaints, []);

  child.kill('SIGINT');
  const {status} = await child.ended;
  assert.equal(status, 130);
  await page.waitForFunction(() => !document.querySelector('#live') || document.querySelector('#live').dataset.state === 'ended');
  await page.context().close();
});

test('a page opened at the very beginning has room for all that comes', async (t) => {
  const {child, url} = await start_held(t, 'begins', ...forever, '--evaluate', '500');
  const page = await open_live(url);
  await page.waitForFunction(() => document.querySelector('#chart-accuracy-bytes'));
  assert.equal(await page.locator('input[name="axis"][value="bytes"]').count(), 1);
  await draw_all(page);
  child.kill('SIGCONT');
  for (const id of ['chart-accuracy-bytes', 'chart-loss']) {
    await page.waitForFunction((of) => Chart.getChart(document.querySelector(`#${of} canvas`))
        .data.datasets.every((set) => set.data.filter((p) => p.y !== null).length > 1), id);
  }
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('a run that finishes gives its final page to who watches it', async (t) => {
  const {child, url} = await start_held(t, 'finishes', '--epochs', '150', '--evaluate', '50');
  const page = await open_live(url);
  await page.waitForFunction(
      () => document.querySelector('#live')?.dataset.state === 'open' && document.querySelector('#chart-accuracy'));
  child.kill('SIGCONT');
  const {status} = await child.ended;
  assert.equal(status, 0);
  await page.waitForFunction(() => !document.querySelector('#live') && document.querySelector('#chart-accuracy'));
  await page.getByRole('heading', {name: 'Figures at the end'}).waitFor();
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('it is read-only, and other names for this machine are refused', async (t) => {
  const {child, url} = await start(t, 'asked', ...forever);
  assert.equal(await ask(url), 200);
  assert.equal(await ask(url, {method: 'HEAD'}), 200);
  assert.equal(await ask(url, {method: 'POST'}), 405);
  assert.equal(await ask(url, {method: 'DELETE'}), 405);
  assert.equal(await ask(new URL('/config.toml', url)), 404);
  assert.equal(await ask(new URL('/..%2f..%2fetc%2fpasswd', url)), 404);
  assert.equal(await ask(url, {headers: {host: 'example.org'}}), 403, 'DNS rebinding');
  child.kill('SIGINT');
  await child.ended;
});

test('another address needs the token that was printed', async (t) => {
  const {child, url} = await start(t, 'token', ...forever, '--live-address', '0.0.0.0');
  const {port, searchParams} = new URL(url);
  assert.match(searchParams.get('token'), /^[0-9a-f]{32}$/);
  const local = `http://127.0.0.1:${port}/`;
  assert.equal(await ask(local), 403);
  assert.equal(await ask(`${local}?token=${'0'.repeat(32)}`), 403);
  assert.equal(await ask(`${local}events`), 403);
  assert.equal(await ask(`${local}?token=${searchParams.get('token')}`), 200);
  const page = await open_live(`${local}?token=${searchParams.get('token')}`);
  await page.waitForFunction(() => /round/.test(document.querySelector('#live')?.textContent));
  assert.deepEqual(page.complaints, []);
  child.kill('SIGINT');
  await child.ended;
  await page.context().close();
});
