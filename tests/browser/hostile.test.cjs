'use strict';
// Names of files, classes and devices that would be markup or end a script are shown as they are.
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const {with_browser, open, draw_all} = require('./browser.cjs');

const holder = with_browser({before, after});

test('hostile names are text', async () => {
  const page = await open(holder.browser, 'hostile.html');
  await draw_all(page);
  await page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
  await draw_all(page);
  assert.deepEqual(page.complaints, [], 'no dialog, no request for x');
  assert.equal(page.asked_for.length, 1);
  assert.equal(await page.locator('img').count(), 0);
  const text = await page.locator('body').textContent();
  assert.ok(text.includes('a<b>&"\'\u2028<img src=x onerror=alert(1)>'), 'the name of the run');
  assert.ok(text.includes('</script><img src=x onerror=alert(1)>"\'&\u20280'), 'the name of a class');
});
