'use strict';
// The page of a run that goes on.
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

/** `hearsay train --live ...`: its URL, and how it ended. */
async function start(out, ...settings) {
  const child = spawn(process.env.HEARSAY_CLI,
                      ['train', '--live', '0', '--model', 'mlp', '--out', path.join(scratch, out), ...settings]);
  let said = '';
  child.ended = new Promise((done) => child.on('close', (status, signal) => done({status, signal, said})));
  const url = await new Promise((done, fail) => {
    const listen = (text) => {
      said += text;
      const match = said.match(/http:\/\/\S+/);
      if (match) done(match[0]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('close', () => fail(new Error(`no address in: ${said}`)));
  });
  return {child, url};
}

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

test('curves grow while the run goes on, without a reload; the end is told', async () => {
  const {child, url} = await start('grows', '--epochs', '400', '--evaluate', '20');
  const page = await open(holder.browser, url);
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

  child.kill('SIGINT');
  const {status} = await child.ended;
  assert.equal(status, 130);
  await page.waitForFunction(() => !document.querySelector('#live') || document.querySelector('#live').dataset.state === 'ended');
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('a run that finishes says so, and gives its final page while the server is there', async () => {
  const {child, url} = await start('finishes', '--epochs', '150', '--evaluate', '50');
  const page = await open(holder.browser, url);
  await page.waitForFunction(() => document.querySelector('#live') && document.querySelector('#chart-accuracy'));
  const {status} = await child.ended;
  assert.equal(status, 0);
  // The server stays for a moment only: on a busy machine the page may come too late to it, and keeps its curves.
  await page.waitForFunction(() => !document.querySelector('#live') || document.querySelector('#live').dataset.state === 'ended');
  await page.waitForFunction(() => document.querySelector('#chart-accuracy'));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('it is read-only, and other names for this machine are refused', async () => {
  const {child, url} = await start('asked', '--epochs', '400');
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

test('another address needs the token that was printed', async () => {
  const {child, url} = await start('token', '--epochs', '400', '--live-address', '0.0.0.0');
  const {port, searchParams} = new URL(url);
  assert.match(searchParams.get('token'), /^[0-9a-f]{32}$/);
  const local = `http://127.0.0.1:${port}/`;
  assert.equal(await ask(local), 403);
  assert.equal(await ask(`${local}?token=${'0'.repeat(32)}`), 403);
  assert.equal(await ask(`${local}events`), 403);
  assert.equal(await ask(`${local}?token=${searchParams.get('token')}`), 200);
  const page = await open(holder.browser, `${local}?token=${searchParams.get('token')}`);
  await page.waitForFunction(() => /round/.test(document.querySelector('#live')?.textContent));
  assert.deepEqual(page.complaints, []);
  child.kill('SIGINT');
  await child.ended;
  await page.context().close();
});
