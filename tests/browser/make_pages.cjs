'use strict';
// Makes the runs and pages that the tests open, from scratch each time, under $HEARSAY_PAGES.
const {execFileSync, spawn, spawnSync} = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const pages = process.env.HEARSAY_PAGES;
fs.rmSync(pages, {recursive: true, force: true});
fs.mkdirSync(pages, {recursive: true});
const at = (name) => path.join(pages, name);

function hearsay(...words) {
  execFileSync(process.env.HEARSAY_CLI, words, {cwd: pages, stdio: ['ignore', 'ignore', 'inherit']});
}
function train(out, ...settings) {
  hearsay('train', '--quiet', '--seed', '3', '--out', out, ...settings);
}
function report(page, ...directories) {
  hearsay('report', ...directories, '--html', page);
}

// One run of each kind. `default` has its baselines beside it.
train('default', '--epochs', '6');
train('link', '--epochs', '4', '--model', 'mlp', '--link', 'latency=1e-3,bandwidth=1e6,compute=1e-2');
train('cycle', '--epochs', '4', '--model', 'mlp', '--graph',
      'cycle:sparse-push:a+sparse-push:b+sparse-push:c,every=1epochs');
train('many', '--peers', '12', '--graph', 'ring', '--data', 'least-squares', '--algorithm', 'choco',
      '--compressor', 'topk:keep=0.1', '--rounds', '400');
for (const keep of ['0.1', '0.01', '0.001']) {
  train(`top${keep}`, '--epochs', '3', '--model', 'mlp', '--compressor', `topk:keep=${keep}`);
}
fs.cpSync(at('top0.1'), at('nested/again'), {recursive: true});
fs.cpSync(at('top0.1'), at('not-finished'), {recursive: true});
fs.rmSync(at('not-finished/summary.json'));

// Evaluated late: its first accuracy, before any round, is far below the others.
train('late', '--epochs', '8', '--model', 'mlp', '--evaluate', '100');
// More peers than lines between them can be followed.
train('crowd', '--peers', '64', '--graph', 'exponential', '--model', 'logistic', '--rounds', '60');

report('single.html', 'default');
report('link.html', 'link');
report('cycle.html', 'cycle');
report('many.html', 'many');
report('late.html', 'late');
report('crowd.html', 'crowd');
report('top0.1.html', 'top0.1');
report('not-finished.html', 'not-finished');

// Several runs, two of them damaged: a line that is not JSON, and a directory that holds no run.
fs.cpSync(at('top0.1'), at('damaged'), {recursive: true});
const metrics = fs.readFileSync(at('damaged/metrics.jsonl'), 'utf8').split('\n');
metrics[4] = '{"round": 4, "loss"';
fs.writeFileSync(at('damaged/metrics.jsonl'), metrics.join('\n'));
fs.mkdirSync(at('foreign'));
fs.writeFileSync(at('foreign/metrics.jsonl'), '');
fs.writeFileSync(at('foreign/config.toml'), 'peers = 4\n\x01\x02 = = nonsense\n');
report('several.html', 'default', 'link', 'top0.1', 'top0.01', 'top0.001', 'nested/again', 'damaged', 'foreign');
if (spawnSync(process.env.HEARSAY_CLI, ['report', 'foreign'], {cwd: pages}).status === 0) {
  throw new Error('a report of nothing but a foreign directory must fail');
}

// A sweep with what a paper prints.
fs.writeFileSync(at('sweep.toml'), `
title = "How much is kept"
source = "A made-up paper, Table 1"
seeds = [1, 2]
rows = [
  {label = "10 %", compressor = "topk:keep=0.1", paper = {SCSP = 91.5}},
  {label = "1 %", compressor = "topk:keep=0.01", paper = {SCSP = 90.25}},
]
figures = [
  {name = "SCSP", key = "accuracy_mean", unit = "%"},
  {name = "factor", key = "compression_factor"},
]
[base]
model = "mlp"
epochs = 2
[quick]
note = "Not the paper's data."
[quick.base]
epochs = 1
`);
hearsay('sweep', 'sweep.toml', '--out', 'sweep');
hearsay('sweep', 'sweep.toml', '--out', 'quick', '--quick');
report('sweep.html', 'sweep');
report('quick.html', 'quick');

// A sweep over two axes, with many rows and long names.
fs.writeFileSync(at('axes.toml'), `
title = "Compression by graph"
figures = [
  {name = "distance", key = "distance_to_optimum", digits = 4},
  {name = "factor", key = "compression_factor"},
]
[base]
data = "least-squares"
algorithm = "choco"
peers = 8
rounds = 200
[[axes]]
name = "compressor"
compressor = ["topk:keep=0.5", "topk:keep=0.2", "topk:keep=0.1", "topk:keep=0.05,value=f16", "qsgd:bits=4", "identity"]
[[axes]]
name = "graph"
graph = ["ring", "torus", "complete"]
`);
hearsay('sweep', 'axes.toml', '--out', 'axes');
report('axes.html', 'axes');

// A fleet of three devices, as their directories hold it after the run.
const devices = [0, 1, 2].map((k) => {
  const name = `sensor-${k}`;
  const text = execFileSync(process.env.HEARSAY_CLI, ['identity', 'new', `${name}.pem`], {cwd: pages, encoding: 'utf8'});
  return text.replace(/name = '[^']*'/, `name = '${name}'`) + `address = '127.77.${process.pid % 250}.${k + 1}:7420'\n`;
});
fs.writeFileSync(at('fleet.toml'), `[train]
algorithm = 'sgp'
graph = 'exponential'
model = 'mlp'
rounds = 60
${devices.join('\n')}`);
const peers = devices.map((_, k) => spawn(
    process.env.HEARSAY_CLI, ['peer', 'fleet.toml', '--identity', `sensor-${k}.pem`, '--out', `sensor-${k}`, '--min-round', '5ms'],
    {cwd: pages, stdio: 'ignore'}));
Promise.all(peers.map((peer) => new Promise((done, fail) => peer.on(
    'close', (status) => (status === 0 ? done() : fail(new Error(`a device ended with ${status}`))))))).then(() => {
  report('device.html', 'sensor-0');
  report('fleet.html', 'sensor-0', 'sensor-1', 'sensor-2');
});

// 200,000 evaluations with one spike up and one down.
fs.cpSync(at('link'), at('big'), {recursive: true});
const lines = fs.readFileSync(at('link/metrics.jsonl'), 'utf8').trim().split('\n');
const line = JSON.parse(lines[lines.length - 1]);
const out = fs.openSync(at('big/metrics.jsonl'), 'w');
for (let first = 0; first < 200000; first += 1000) {
  let text = '';
  for (let i = first; i < first + 1000; ++i) {
    const wave = Math.sin(i / 997) + ((i * 7919) % 1000) / 500;
    Object.assign(line, {
      round: i + 1, epoch: i / 50, bytes_total: 1000 * (i + 1), seconds: i / 10,
      simulated_seconds: i / 5, loss: 2 + wave / 4, train_loss: 2 + wave / 5,
      accuracy_mean: 50 + 5 * wave, accuracy_of_average: 51 + 5 * wave,
      accuracy: [0, 1, 2, 3].map((peer) => 49 + peer + 5 * wave),
    });
    if (i === 77777) line.accuracy[2] = 99.875;
    if (i === 133333) line.accuracy[1] = 0.125;
    text += JSON.stringify(line) + '\n';
  }
  fs.writeSync(out, text);
}
fs.closeSync(out);
report('big.html', 'big');

// Names that would be markup or end a script.
const hostile = '<\/script><img src=x onerror=alert(1)>"\'&\u2028';
fs.cpSync(at('top0.1'), at('hostile'), {recursive: true});
const summary = JSON.parse(fs.readFileSync(at('hostile/summary.json'), 'utf8'));
summary.class_names = summary.class_counts[0].map((_, i) => `${hostile}${i}`);
summary.device = hostile;
fs.writeFileSync(at('hostile/summary.json'), JSON.stringify(summary));
const hostile_name = 'a<b>&"\'\u2028<img src=x onerror=alert(1)>';
fs.cpSync(at('hostile'), at(hostile_name), {recursive: true});
report('hostile.html', 'hostile', hostile_name);
