'use strict';
// Charts and pictures as files. A chart is written as SVG from what Chart.js has laid out: the same
// scales, curves, marks and names, with title and legend, as text and paths that can be edited. The
// PNG is that SVG, drawn larger. Both are dark on white, whatever the reader's screen.
globalThis.hearsaySave = (() => {
  const draw = globalThis.hearsayCharts;
  const font = 'Helvetica, Arial, sans-serif';
  const sharper = 3;  // pixels of a PNG per pixel on the screen

  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));
  const n = (value) => String(Math.round(100 * value) / 100);
  const element = (name, attributes, inside = '') => {
    const words = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== '')
        .map(([key, value]) => ` ${key}="${typeof value === 'number' ? n(value) : escape(value)}"`);
    return `<${name}${words.join('')}>${inside}</${name}>\n`;
  };
  const text = (x, y, words, more = {}) => element('text', {x, y, fill: draw.style('--ink'), ...more}, escape(words));

  // A file: what is drawn on white, with a title.
  const file = (width, height, title, inside) =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" ` +
      `font-family="${font}" font-size="12">\n<title>${escape(title)}</title>\n` +
      element('rect', {width, height, fill: draw.style('--card')}) + inside + '</svg>\n';

  // ---- Charts ----
  const axes_of = (chart) => Object.values(chart.scales).map((scale) => {
    const {left, right, top, bottom} = chart.chartArea, soft = draw.style('--soft');
    const across = scale.isHorizontal();
    const ticks = scale.ticks.map((tick, k) => {
      const at = scale.getPixelForTick(k), lines = [tick.label].flat();
      const line = across ? {x1: at, x2: at, y1: top, y2: bottom} : {x1: left, x2: right, y1: at, y2: at};
      return element('line', {...line, stroke: draw.style('--grid')}) + lines.map((words, row) => across ?
          text(at, bottom + 18 + 14 * row, words, {fill: soft, 'text-anchor': 'middle'}) :
          text(left - 8, at + 4 + 14 * (row - (lines.length - 1) / 2), words, {fill: soft, 'text-anchor': 'end'})).join('');
    });
    const title = scale.options.title.display ? scale.options.title.text : '';
    const [x, y] = across ? [(left + right) / 2, scale.bottom - 6] : [scale.left + 12, (top + bottom) / 2];
    return ticks.join('') + (title && text(x, y, title, {
      fill: soft, 'text-anchor': 'middle', transform: across ? undefined : `rotate(-90 ${n(x)} ${n(y)})`,
    }));
  }).join('');

  // Points of a curve as a path, which begins anew after a gap. `stepped`: as Chart.js's 'after'.
  const path_of = (points, stepped) => {
    let path = '', before = null;
    for (const point of points) {
      const there = Number.isFinite(point.x) && Number.isFinite(point.y) && !point.skip;
      if (there) {
        if (before && stepped) path += `L${n(before.x)} ${n(point.y)}`;
        path += `${before ? 'L' : 'M'}${n(point.x)} ${n(point.y)}`;
      }
      before = there ? point : null;
    }
    return path;
  };
  const mark = (set, x, y, radius) => element('path', {
    d: draw.marks[set.pointStyle], transform: `translate(${n(x)} ${n(y)}) scale(${n(radius / 3)})`,
    fill: set.pointBackgroundColor || set.backgroundColor, stroke: set.borderColor, 'stroke-width': 3 * set.pointBorderWidth / radius,
  });

  const curve = (chart, meta) => {
    const set = chart.data.datasets[meta.index], points = meta.data;
    if (set.band) {
      if (!set.fill) return '';
      const upper = chart.getDatasetMeta(meta.index + 1).data.filter((p) => Number.isFinite(p.y));
      const lower = points.filter((p) => Number.isFinite(p.y));
      return element('path', {
        d: `${path_of(lower)}${path_of([...upper].reverse()).replace('M', 'L')}Z`, fill: set.ink, 'fill-opacity': 0.18,
      });
    }
    const line = path_of(points, set.stepped);
    const marks = set.pointRadius > 0 ? points.filter((p) => Number.isFinite(p.y)) : set.marked ? draw.places_along(chart, meta.index) : [];
    return element('path', {
      d: line, fill: 'none', stroke: set.borderColor, 'stroke-width': set.borderWidth, 'stroke-linejoin': 'round',
      'stroke-dasharray': (set.borderDash || []).join(' '),
    }) + marks.map(({x, y}) => mark(set, x, y, set.pointRadius || 3)).join('');
  };

  const dots = (chart, meta) => {
    const set = chart.data.datasets[meta.index];
    const along = set.across ? chart.scales.x : chart.scales.y;
    return meta.data.map(({x, y}, k) => {
      const {low, high} = set.data[k];
      const [a, b] = [low, high].map((value) => along.getPixelForValue(value));
      const ends = set.across ? {x1: a, x2: b, y1: y, y2: y} : {x1: x, x2: x, y1: a, y2: b};
      return (low < high ? element('line', {...ends, stroke: set.borderColor, 'stroke-width': 1.5}) : '') +
          mark(set, x, y, set.pointRadius);
    }).join('');
  };

  const bars = (chart, meta) => meta.data.map((bar) => {
    const {x, y, base, width} = bar.getProps(['x', 'y', 'base', 'width'], true);
    return element('rect', {
      x: x - width / 2, y: Math.min(y, base), width, height: Math.abs(base - y),
      fill: chart.data.datasets[meta.index].backgroundColor,
    });
  }).join('');

  const names_of = (chart) => (chart.$labels || []).map((label) => {
    const [x2, y2] = globalThis.hearsayLabels.end_of(label);
    return (label.box.far > 9 ? element('line', {x1: label.x, y1: label.y, x2, y2, stroke: draw.style('--soft'), 'stroke-width': 0.75}) : '') +
        text(label.box.left, label.box.bottom - 3.5, label.name);
  }).join('');

  // Entries from left to right, in as many lines as they need; returns the SVG and its height.
  const legend_of = (chart, width) => {
    const sets = [];
    chart.data.datasets.forEach((set, k) => {
      if (chart.isDatasetVisible(k) && !sets.some((other) => other.label === set.label)) sets.push(set);
    });
    if (sets.length < 2) return {svg: '', height: 0};
    chart.ctx.save();
    chart.ctx.font = `12px ${font}`;
    let x = 12, y = 14, svg = '';
    for (const set of sets) {
      const wide = 40 + chart.ctx.measureText(set.label).width + 18;
      if (x > 12 && x + wide > width) [x, y] = [12, y + 20];
      const swatch = draw.swatch(set);
      svg += element('g', {transform: `translate(${n(x)} ${n(y - 10)})`}, swatch.innerHTML) + text(x + 38, y, set.label);
      x += wide;
    }
    chart.ctx.restore();
    return {svg, height: y + 10};
  };

  // A chart as it stands, with a title above and a legend below.
  const svg_of = (chart, title) => {
    const {left, top, right, bottom} = chart.chartArea, head = 30;
    const types = {bar: bars, scatter: dots, line: curve};
    const sets = chart.getSortedVisibleDatasetMetas().reverse().map((meta) => types[meta.type](chart, meta)).join('');
    const legend = legend_of(chart, chart.width);
    const area = {x: left, y: top, width: right - left, height: bottom - top};
    const plot = element('svg', {...area, viewBox: [left, top, right - left, bottom - top].map(n).join(' ')}, sets);
    return file(chart.width, head + chart.height + legend.height, title,
                text(12, 20, title, {'font-size': 14, 'font-weight': 'bold'}) +
                element('g', {transform: `translate(0 ${head})`}, axes_of(chart) + plot + names_of(chart)) +
                element('g', {transform: `translate(0 ${n(head + chart.height)})`}, legend.svg));
  };

  // ---- Pictures that need no script: graphs, matrices, histograms ----
  const looks = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'opacity', 'font-size', 'font-weight'];
  const copy_of = (picture) => {
    const copy = picture.cloneNode(true);
    copy.removeAttribute('class');
    const [from, to] = [picture, copy].map((root) => [...root.querySelectorAll('*')]);
    from.forEach((node, k) => {
      if (node.tagName === 'title') return;
      const style = getComputedStyle(node);
      for (const look of looks) to[k].setAttribute(look, style.getPropertyValue(look));
      to[k].removeAttribute('class');
    });
    return copy;
  };
  const svg_of_pictures = (pictures, title) => {
    const small = pictures[0].classList.contains('histogram');
    const [w, h, gap, tag] = small ? [130, 60, 14, 18] : [320, 320, 24, 20];
    const columns = Math.min(pictures.length, small ? 8 : 3), rows = Math.ceil(pictures.length / columns);
    const inside = pictures.map((picture, k) => {
      const x = gap + (w + gap) * (k % columns), y = 36 + (h + tag + gap) * Math.floor(k / columns);
      const copy = copy_of(picture), name = picture.parentElement.querySelector('p');
      for (const [key, value] of Object.entries({x, y: y + tag, width: w, height: h})) copy.setAttribute(key, value);
      return (name ? text(x, y + 12, [...name.childNodes].map((part) => part.textContent).join('  ')) : '') + copy.outerHTML;
    }).join('\n');
    return file(gap + columns * (w + gap), 36 + rows * (h + tag + gap), title, text(gap, 20, title, {'font-size': 14, 'font-weight': 'bold'}) + inside);
  };

  // ---- Files ----
  const give = (blob, name) => {
    const link = document.createElement('a');
    Object.assign(link, {href: URL.createObjectURL(blob), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  const png_of = (svg) => new Promise((done, fail) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [sharper * image.width, sharper * image.height];
      const context = canvas.getContext('2d');
      context.scale(sharper, sharper);
      context.drawImage(image, 0, 0);
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('the chart is too large for a PNG'))), 'image/png');
    };
    image.onerror = () => fail(new Error('the chart cannot be drawn'));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });

  // Two buttons; `make` returns the SVG, while the page's colours are those of paper.
  const buttons = (name, make) => ['SVG', 'PNG'].map((kind) => {
    const button = document.createElement('button');
    Object.assign(button, {type: 'button', className: `tool save-${kind.toLowerCase()}`, textContent: kind, title: `Save as ${kind}`});
    button.addEventListener('click', async () => {
      const svg = make();
      give(kind === 'SVG' ? new Blob([svg], {type: 'image/svg+xml'}) : await png_of(svg), `${name}.${kind.toLowerCase()}`);
    });
    return button;
  });

  return {buttons, png_of, svg_of, svg_of_pictures};
})();
