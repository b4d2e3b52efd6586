'use strict';
// Zoom: drag over a part of a chart, with a mouse or a pen; or + and - and the arrows while it has
// the focus. A double click, 0 or the button "reset" shows all of it again.
globalThis.hearsayZoom = (() => {
  const least = 8;  // pixels of a drag that is meant

  const axes = (item) => [['x', item.chart.scales.x], ['y', item.chart.scales.y]];

  // item.zoom: {x: [from, to], y: [from, to]}, or null: everything.
  const apply = (item) => {
    const {chart, zoom} = item;
    if (zoom) {
      for (const [name] of axes(item)) {
        [chart.options.scales[name].min, chart.options.scales[name].max] = zoom[name];
      }
    }
    item.reset.hidden = !zoom;
  };
  const set = (item, zoom) => {
    item.zoom = zoom;
    globalThis.hearsayHover.hide();
    if (zoom) {
      apply(item);
      item.chart.update('none');
    } else {
      item.rebuild();
    }
  };

  // Pixels on an axis as values, in rising order.
  const values = (scale, from, to) =>
      [scale.getValueForPixel(from), scale.getValueForPixel(to)].sort((a, b) => a - b);

  // Shows what lies between two corners; a drag along one axis leaves the other as it is.
  const to_corners = (item, [x0, y0], [x1, y1]) => {
    const {x, y} = item.chart.scales, area = item.chart.chartArea;
    const [wide, high] = [Math.abs(x1 - x0) >= least, Math.abs(y1 - y0) >= least];
    if (!wide && !high) return;
    const flat = wide && Math.abs(y1 - y0) < 2 * least, steep = high && Math.abs(x1 - x0) < 2 * least;
    if (flat || !high) [y0, y1] = [area.top, area.bottom];
    if (steep || !wide) [x0, x1] = [area.left, area.right];
    set(item, {x: values(x, x0, x1), y: values(y, y0, y1)});
  };

  // By `factor` about the middle, then moved by parts of its width and height.
  const to_part = (item, factor, right, up) => {
    const {left, right: end, top, bottom} = item.chart.chartArea;
    const [w, h] = [(end - left) / 2, (bottom - top) / 2];
    const [x, y] = [(left + end) / 2 + right * w, (top + bottom) / 2 - up * h];
    const {x: across, y: along} = item.chart.scales;
    set(item, {
      x: values(across, x - factor * w, x + factor * w), y: values(along, y - factor * h, y + factor * h),
    });
  };

  // item: {figure, chart, reset: the button, rebuild: draws all of the chart again}.
  const attach = (item) => {
    const plot = item.figure.querySelector('.plot'), canvas = plot.querySelector('canvas');
    let from = null, brush = null;
    const place = (event) => {
      const {left, top} = canvas.getBoundingClientRect(), area = item.chart.chartArea;
      return [Math.min(Math.max(event.clientX - left, area.left), area.right),
              Math.min(Math.max(event.clientY - top, area.top), area.bottom)];
    };
    const end = () => {
      if (brush) brush.remove();
      from = brush = null;
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch' || !item.chart) return;
      const {left, top} = canvas.getBoundingClientRect();
      const at = {x: event.clientX - left, y: event.clientY - top};
      if (!Chart.helpers._isPointInArea(at, item.chart.chartArea)) return;
      from = place(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!from) return;
      const [x, y] = place(event), area = item.chart.chartArea;
      const [wide, high] = [Math.abs(x - from[0]), Math.abs(y - from[1])];
      if (!brush && wide < least && high < least) return;
      if (!brush) {
        brush = document.createElement('div');
        brush.className = 'brush';
        plot.append(brush);
      }
      globalThis.hearsayHover.hide();
      const flat = wide >= least && high < 2 * least, steep = high >= least && wide < 2 * least;
      const [l, r] = steep ? [area.left, area.right] : [Math.min(x, from[0]), Math.max(x, from[0])];
      const [t, b] = flat ? [area.top, area.bottom] : [Math.min(y, from[1]), Math.max(y, from[1])];
      Object.assign(brush.style, {left: `${l}px`, top: `${t}px`, width: `${r - l}px`, height: `${b - t}px`});
    });
    canvas.addEventListener('pointerup', (event) => {
      const start = from;
      if (start && brush) to_corners(item, start, place(event));
      end();
    });
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('dblclick', () => item.zoom && set(item, null));
    item.reset.addEventListener('click', () => {
      set(item, null);
      canvas.focus();
    });
    canvas.tabIndex = 0;
    const keys = {
      '+': [0.5, 0, 0], '=': [0.5, 0, 0], '-': [2, 0, 0], ArrowLeft: [1, -0.5, 0], ArrowRight: [1, 0.5, 0],
      ArrowUp: [1, 0, 0.5], ArrowDown: [1, 0, -0.5],
    };
    canvas.addEventListener('keydown', (event) => {
      if (!item.chart || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape') end();
      if (event.key === '0' && item.zoom) {
        set(item, null);
      } else if (keys[event.key] && (item.zoom || event.key === '+' || event.key === '=')) {
        to_part(item, ...keys[event.key]);
      } else {
        return;
      }
      event.preventDefault();
    });
  };

  return {apply, attach};
})();
