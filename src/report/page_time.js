// Time: what each kernel computes and moves and when, and below it, on the same axis, who holds fast memory. The marks
// are drawn once, in pixels of the whole plan; zooming stretches them by one attribute, and draws axis and labels anew.

const time_frame = { left: 76, right: 14, compute: 6, memory: 32, track: 22, room: 78, room_height: 110, axis: 192, strip: 232, strip_height: 16, height: 252 };

function append_time(parent, view) {
  const { graph, plan } = view;
  const note = `Full colour: the side that decides the kernel's latency.${graph.machine.launch ? " Grey: its launch." : ""} ` +
    "Fast memory: solid is what stays held, in the colour of the kernel that made it; pale is what the running kernel needs besides. Drag over the strip to zoom, or Ctrl and the wheel.";
  const { bar, body } = view_panel_in(parent, view, "time", "Timeline and fast memory", note);
  const over = over_capacity(plan);
  if (graph.plans.some(other => over_capacity(other))) body.after(html("p", { class: over ? "note over" : "note" }, over ? `${over}.` : "All kernels fit in fast memory."));
  const chart = { view, body, runs: held_runs(plan, graph) };
  bar.append(html("span", { class: "buttons", role: "group", "aria-label": "Time" },
    tool("−", () => chart.scale_by(1 / 2), "Zoom out in time"), tool("+", () => chart.scale_by(2), "Zoom in in time"), tool("All", () => chart.fit())));
  view.painters.push((hot, warm) => paint_bands(chart, hot, warm));
  view.revealers.push(kernels => reveal_in_time(chart, kernels[0]));
  draw_chart(body, width => draw_time(chart, width));
}

// Who holds fast memory: a run for each tensor and stretch of kernels in which its place in the stack is the same.
// Older tensors lie below younger ones.
function held_runs(plan, graph) {
  const runs = [], tops = [];
  let open = [];  // in the order of arrival
  plan.kernels.forEach((kernel, k) => {
    const held = new Set(kernel.held);
    const kept = open.filter(run => held.has(run.tensor)).map(run => run.tensor);
    const order = kept.concat(kernel.held.filter(tensor => !kept.includes(tensor)));
    let level = 0;
    open = order.map(tensor => {
      const size = graph.tensors[tensor].size, before = open.find(run => run.tensor === tensor);
      const run = before && before.from === level ? before : { tensor, first: k, from: level, size };
      if (run !== before) runs.push(run);
      run.last = k;
      level += size;
      return run;
    });
    tops.push(level);
  });
  return { runs, tops };
}

// A tensor has the colour of the kernel that makes it first; `shade` sets those of one kernel apart.
function tensor_colours(view) {
  const seen = new Map();
  return tensor => {
    const { producer } = view.graph.tensors[tensor];
    const home = producer === null ? -1 : view.kernels_of[producer][0];
    if (!seen.has(home)) seen.set(home, []);
    const mates = seen.get(home);
    if (!mates.includes(tensor)) mates.push(tensor);
    return `${home === -1 || home === undefined ? "outside" : kernel_class(home)} shade${mates.indexOf(tensor) % 3}`;
  };
}

function draw_time(chart, width) {
  const { view, body } = chart, { graph, plan } = view, f = time_frame;
  const inner = Math.max(80, width - f.left - f.right);
  // The same scales in all plans of a graph: what looks longer takes longer.
  const kernels = graph.plans.flatMap(other => other.kernels);
  const x = d3.scaleLinear().domain([0, d3.max(kernels, kernel => kernel.end) || 1]).range([0, inner]);
  const most = d3.max(kernels, kernel => kernel.working_set);
  const y = d3.scaleLinear().domain([0, Math.max(most, graph.machine.capacity) * 1.04]).range([f.room + f.room_height, f.room]);
  const picture = svg("svg", { class: "chart", width, height: f.height, viewBox: `0 0 ${width} ${f.height}`, role: "group", "aria-label": "Timeline and fast memory" });
  const clip = `${view.element.id}-clip`;
  picture.append(svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", { x: 0, y: 0, width: inner, height: f.axis }))));
  const frame = svg("g", { transform: `translate(${f.left},0)` });
  const words = described(time_words(graph, plan));
  const clipped = svg("g", { "clip-path": `url(#${clip})` });
  Object.assign(chart, { x, y, inner, bands: svg("g"), marks: svg("g"), slots: svg("g"), labels: svg("g", { class: "labels", "aria-hidden": "true" }), axis: svg("g", { class: "axis", transform: `translate(0,${f.axis})` }) });
  add_marks(chart);
  clipped.append(chart.bands, chart.marks, chart.labels, chart.slots);
  words.append(...time_scenery(chart));
  frame.append(words, chart.axis, clipped, capacity_line(chart));
  picture.append(frame);
  body.replaceChildren(picture);
  add_time_zoom(chart, frame);
  rove(chart.slots, () => Array.from(chart.slots.children));
  paint_bands(chart, new Set(), new Set());
}

function time_scenery(chart) {
  const { view: { graph }, y, inner } = chart, f = time_frame;
  const memory = svg("g", { class: "axis" });
  d3.select(memory).call(d3.axisLeft(y).ticks(4).tickFormat(axis_number).tickSizeOuter(0));
  return [
    svg("rect", { class: "track", x: 0, y: f.compute, width: inner, height: f.track }), svg("rect", { class: "track", x: 0, y: f.memory, width: inner, height: f.track }),
    svg("text", { class: "end", x: -8, y: f.compute + 15 }, "compute"), svg("text", { class: "end", x: -8, y: f.memory + 15 }, "memory"),
    svg("text", { class: "dim start", x: -f.left + 2, y: f.room - 8 }, `fast memory (${graph.size_unit})`),
    svg("text", { class: "dim end", x: inner, y: f.axis + 32 }, `time (${graph.time_unit})`),
    memory,
  ];
}

function capacity_line(chart) {
  const { view: { graph }, y, inner } = chart, at = y(graph.machine.capacity);
  return svg("g", { class: "capacity", "aria-hidden": "true" }, svg("line", { x1: 0, x2: inner, y1: at, y2: at }),
    svg("text", { class: "end", x: inner - 4, y: at - 4 }, `capacity ${size_text(graph.machine.capacity)}`));
}

// All in pixels of the whole plan; no outline, since it would be stretched.
function add_marks(chart) {
  const { view, x, y, marks, slots } = chart, { graph, plan } = view, f = time_frame;
  const colour = tensor_colours(view), group = svg("g", { class: "held" });
  const bar = (name, from, to, top, height) => svg("rect", { class: name, x: x(from), y: top, width: Math.max(0, x(to) - x(from)), height });
  plan.kernels.forEach((kernel, k) => {
    const begin = kernel.start + kernel.launch, c = kernel_class(k);
    const side = which => (kernel.bound === which || kernel.bound === "both" || kernel.bound === "fallback" ? "" : " lesser");
    marks.append(svg("g", { class: c },
      bar("span", kernel.start, kernel.end, f.compute, f.memory + f.track - f.compute), ...(kernel.launch ? [bar("launch", kernel.start, begin, f.compute, f.memory + f.track - f.compute)] : []),
      bar("work" + side("compute"), begin, begin + kernel.compute, f.compute, f.track), bar("work" + side("memory"), begin, begin + kernel.memory, f.memory, f.track),
      bar("tiles", kernel.start, kernel.end, y(chart.runs.tops[k] + kernel.other), y(0) - y(kernel.other))));
    const slot = bar("slot", kernel.start, kernel.end, 0, f.axis);
    set_attributes(slot, { "data-k": k, tabindex: -1, role: "img", "aria-label": `kernel ${k}, from ${time_text(kernel.start)} to ${time_text(kernel.end)} ${graph.time_unit}` });
    slot.append(svg("title", {}, memory_title(graph, plan, k)));
    slots.append(slot);
  });
  for (const run of chart.runs.runs) {
    const held = bar(`tensor ${colour(run.tensor)}`, plan.kernels[run.first].start, plan.kernels[run.last].end, y(run.from + run.size), y(run.from) - y(run.from + run.size));
    held.setAttribute("data-tensor", run.tensor);
    group.append(held);
  }
  marks.append(group);
}

function memory_title(graph, plan, k) {
  const kernel = plan.kernels[k];
  const held = kernel.held.slice(0, 20).map(tensor => `holds ${tensor_text(graph, tensor)}`);
  return [`kernel ${k}: ${time_text(kernel.start)} to ${time_text(kernel.end)}`, ...held, `besides ${size_text(kernel.other)} ${graph.size_unit} of tiles`].join("\n");
}

function time_words(graph, plan) {
  const { totals } = plan, peak = totals.largest_working_set;
  return `Timeline of ${plural(plan.kernels.length, "kernel")} over ${time_text(plan.kernels[plan.kernels.length - 1].end)} ${graph.time_unit}: ` +
    `they compute for ${time_text(totals.compute)} and move data for ${time_text(totals.memory)}; launches take ${time_text(totals.launch)}. ` +
    `Fast memory: at most ${size_text(peak)} of ${size_text(graph.machine.capacity)} ${graph.size_unit} are in use, and ${plural(new Set(plan.kernels.flatMap(kernel => kernel.held)).size, "tensor")} stay held for some time.`;
}
