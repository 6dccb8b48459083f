// Zooming in time: a strip of the whole plan with a brush, and drag and wheel on the chart itself. The three move together.

function add_time_zoom(chart, frame) {
  const { view, x, inner } = chart, { plan } = view, f = time_frame;
  const area = d3.select(frame);
  const strip = svg("g", { class: "strip", transform: `translate(0,${f.strip})`, "aria-hidden": "true" });
  plan.kernels.forEach((kernel, k) => strip.append(svg("rect", { class: kernel_class(k), x: x(kernel.start), y: 3, width: Math.max(0.3, x(kernel.end) - x(kernel.start)), height: f.strip_height - 6 })));
  frame.append(strip);
  const brush = d3.brushX().extent([[0, 0], [inner, f.strip_height]]);
  const zoom = d3.zoom().scaleExtent([1, Math.max(8, 4 * plan.kernels.length)]).translateExtent([[0, 0], [inner, 0]]).extent([[0, 0], [inner, f.axis]])
    .filter(() => may_zoom(frame.ownerSVGElement))
    .on("zoom", () => {
      const t = d3.event.transform;
      stretch_time(chart, t);
      const by = d3.event.sourceEvent && d3.event.sourceEvent.type;
      if (by !== "brush" && by !== "end") d3.select(strip).call(brush.move, x.range().map(t.invertX, t));
    });
  const target = area.select("[clip-path]");
  brush.on("brush end", () => {
    if (!d3.event.sourceEvent || d3.event.sourceEvent.type === "zoom") return;  // moved by the zoom
    const [from, to] = d3.event.selection || x.range();
    if (to - from < 1) return;
    target.call(zoom.transform, d3.zoomIdentity.scale(inner / (to - from)).translate(-from, 0));
  });
  d3.select(strip).call(brush);
  target.call(zoom).on("dblclick.zoom", null).style("touch-action", "pan-x pan-y");
  chart.fit = () => target.call(zoom.transform, d3.zoomIdentity);
  chart.scale_by = factor => target.call(zoom.scaleBy, factor);
  chart.center = time => target.call(zoom.translateTo, x(time), 0);
  chart.transform = () => d3.zoomTransform(target.node());
  chart.fit();
}

function stretch_time(chart, transform) {
  const { view: { plan }, x, inner } = chart;
  const stretched = `translate(${transform.x},0) scale(${transform.k},1)`;
  for (const group of [chart.bands, chart.marks, chart.slots]) group.setAttribute("transform", stretched);
  const zoomed = transform.rescaleX(x);
  d3.select(chart.axis).call(d3.axisBottom(zoomed).ticks(Math.max(2, inner / 90)).tickFormat(axis_number).tickSizeOuter(0));
  label_time(chart, zoomed, plan);
}

// Numbers of the kernels and tensors that are in sight and wide enough for one.
function label_time(chart, zoomed) {
  const { view: { plan }, y, inner, runs } = chart, f = time_frame, labels = [];
  const put = (from, to, at, text) => {
    const left = Math.max(0, zoomed(from)), right = Math.min(inner, zoomed(to));
    if (right - left > text_width(text) + 4) labels.push({ x: (left + right) / 2, y: at, text });
  };
  const [low, high] = zoomed.domain();
  plan.kernels.forEach((kernel, k) => {
    if (kernel.end < low || kernel.start > high) return;
    const begin = kernel.start + kernel.launch;
    put(begin, begin + kernel.compute, f.compute + 15, `k${k}`);
    put(begin, begin + kernel.memory, f.memory + 15, `k${k}`);
  });
  for (const run of runs.runs) {
    if (y(0) - y(run.size) >= 13) put(plan.kernels[run.first].start, plan.kernels[run.last].end, y(run.from + run.size / 2) + 4, `t${run.tensor}`);
  }
  d3.select(chart.labels).selectAll("text").data(labels).join("text").attr("x", d => d.x).attr("y", d => d.y).text(d => d.text);
}

// A band behind the kernels that are lit.
function paint_bands(chart, hot, warm) {
  if (!chart.bands) return;
  const { view: { plan }, x } = chart;
  const bands = Array.from(hot, k => [k, "hot"]).concat(Array.from(warm, k => [k, "warm"]));
  d3.select(chart.bands).selectAll("rect").data(bands).join("rect").attr("class", d => `band ${d[1]}`)
    .attr("x", d => x(plan.kernels[d[0]].start)).attr("width", d => x(plan.kernels[d[0]].end) - x(plan.kernels[d[0]].start)).attr("y", 0).attr("height", time_frame.axis);
}

function reveal_in_time(chart, kernel) {
  if (!chart.transform) return;
  const { view: { plan }, x } = chart, [low, high] = chart.transform().rescaleX(x).domain();
  const { start, end } = plan.kernels[kernel];
  if (end <= low || start >= high) chart.center((start + end) / 2);
}
