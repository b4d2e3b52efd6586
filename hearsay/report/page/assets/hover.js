'use strict';
// What the reader points at: of curves the value of each at that place, a line through them, and a
// mark on each; of points, dots and bars the nearest one.
globalThis.hearsayHover = (() => {
  const reach = 12;  // pixels beyond the ends of a curve

  // The point of a curve that is nearest to a place on the horizontal axis, by index; -1 if there is
  // none within reach. Points are ordered by x.
  const nearest = (points, x) => {
    if (points.length === 0 || x < points[0].x - reach || x > points[points.length - 1].x + reach) return -1;
    let low = 0, high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle].x < x) low = middle; else high = middle;
    }
    const best = Math.abs(points[low].x - x) <= Math.abs(points[high].x - x) ? low : high;
    return Number.isFinite(points[best].y) && !points[best].skip ? best : -1;
  };

  // Chart.js: which points of a chart are meant by an event.
  Chart.Interaction.modes.each_curve = (chart, event) => {
    const items = [];
    if (!Chart.helpers._isPointInArea(event, chart.chartArea)) return items;
    for (const meta of chart.getSortedVisibleDatasetMetas()) {
      const index = nearest(meta.data, event.x);
      if (index >= 0) items.push({element: meta.data[index], datasetIndex: meta.index, index});
    }
    // The nearest first: it says where that is.
    const distance = (item) => Math.abs(item.element.x - event.x);
    items.sort((a, b) => distance(a) - distance(b) || a.datasetIndex - b.datasetIndex);
    return items;
  };

  // The vertical line.
  const cross = (style) => ({
    id: 'cross',
    beforeDatasetsDraw(chart) {
      const [active] = chart.getActiveElements();
      if (!active) return;
      const {ctx, chartArea: {top, bottom}} = chart;
      ctx.save();
      ctx.strokeStyle = style('--soft');
      ctx.lineWidth = 1;
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(active.element.x, top);
      ctx.lineTo(active.element.x, bottom);
      ctx.stroke();
      ctx.restore();
    },
  });

  // One box for all charts, above everything and never in the way of the pointer.
  let box = null;
  const hide = () => { if (box) box.hidden = true; };
  const show = (canvas, x, y, title, rows) => {
    if (!box) {
      box = document.createElement('div');
      box.className = 'readout';
      document.body.append(box);
    }
    const head = document.createElement('p');
    head.textContent = title;
    const list = document.createElement('ul');
    for (const {set, name, value} of rows) {
      const row = document.createElement('li');
      const [label, number] = [document.createElement('span'), document.createElement('b')];
      label.textContent = name;
      number.textContent = value;
      row.append(globalThis.hearsayCharts.swatch(set), label, number);
      list.append(row);
    }
    box.replaceChildren(head, list);
    box.style.setProperty('--columns', Math.ceil(rows.length / 16));
    box.hidden = false;
    const at = canvas.getBoundingClientRect(), {offsetWidth: width, offsetHeight: height} = box;
    const edge = 8, {clientWidth, clientHeight} = document.documentElement;
    let left = at.left + x + 14;
    if (left + width > clientWidth - edge) left = at.left + x - 14 - width;
    const top = at.top + y - height / 2;
    box.style.left = `${Math.max(edge, Math.min(left, clientWidth - edge - width))}px`;
    box.style.top = `${Math.max(edge, Math.min(top, clientHeight - edge - height))}px`;
  };
  addEventListener('scroll', hide, {passive: true, capture: true});

  // Options of a tooltip. title(items): a text; rows(items): [{set, name, value}].
  const tooltip = (title, rows) => ({
    enabled: false,
    external: ({chart, tooltip: tip}) => {
      const items = tip.dataPoints || [];
      if (tip.opacity === 0 || items.length === 0 || !chart.canvas) return hide();
      show(chart.canvas, tip.caretX, tip.caretY, title(items), rows(items));
    },
  });

  return {cross, hide, nearest, tooltip};
})();
