// The roofline: how much a kernel computes for what it moves, against the share of its latency that computes, which is
// that of the machine's peak.

const roofline_frame = { left: 52, right: 16, top: 34, height: 290, bottom: 44 };

function append_roofline(parent, view) {
  const { graph } = view;
  const note = "A kernel on the roof does nothing but compute (flat) or move data (slope); below it, launches and waiting take their part. The area of a point is its share of the latency. " +
    "Kernels that move nothing stand at the right edge; those that compute nothing, at the bottom left.";
  const { body } = view_panel_in(parent, view, "roofline", "Roofline", note);
  body.setAttribute("data-unit", graph.size_unit);
  const chart = { view, body };
  view.painters.push((hot, warm) => name_points(chart, hot, warm));
  draw_chart(body, width => draw_roofline(chart, width));
}

// How much a kernel computes for what it moves, and what share of its latency that is.
function rated(kernel, k) {
  const moved = kernel.loaded + kernel.stored;
  return { k, kernel, intensity: moved > 0 ? kernel.compute / moved : Infinity, share: kernel.latency > 0 ? kernel.compute / kernel.latency : 0 };
}

// The points, and scales that hold those of all plans of the graph and the knee of the roof.
function roofline_points(view, width) {
  const { graph, plan } = view, f = roofline_frame, { bandwidth } = graph.machine;
  const points = plan.kernels.map(rated), all = graph.plans.flatMap(other => other.kernels.map(rated));
  const finite = all.filter(p => Number.isFinite(p.intensity) && p.intensity > 0).map(p => p.intensity);
  if (bandwidth > 0) finite.push(1 / bandwidth);
  const [least, most] = finite.length ? d3.extent(finite) : [0.1, 10];
  const lowest = d3.min(all.filter(p => p.share > 0), p => p.share) || 0.1;
  const x = d3.scaleLog().domain([least / 2.5, most * 2.5]).range([f.left, width - f.right]);
  const y = d3.scaleLog().domain([Math.max(1e-4, Math.min(0.2, lowest / 1.6)), 1.25]).range([f.height - f.bottom, f.top]).clamp(true);
  const area = d3.scaleSqrt().domain([0, d3.max(all, p => p.kernel.latency) || 1]).range([3, 12]);
  for (const p of points) {
    p.x = p.intensity === Infinity ? width - f.right : p.intensity > 0 ? x(p.intensity) : f.left;
    p.y = p.share > 0 ? y(p.share) : f.height - f.bottom;
    p.r = area(p.kernel.latency);
  }
  return { points, x, y };
}

function draw_roofline(chart, width) {
  const { view, body } = chart, { graph, plan } = view, f = roofline_frame;
  const { points, x, y } = roofline_points(view, width);
  const picture = svg("svg", { class: "chart", width, height: f.height, viewBox: `0 0 ${width} ${f.height}`, role: "group", "aria-label": "Roofline" });
  const words = described(roofline_words(graph, plan));
  const horizontal = svg("g", { class: "axis", transform: `translate(0,${f.height - f.bottom})` }), vertical = svg("g", { class: "axis", transform: `translate(${f.left},0)` });
  d3.select(horizontal).call(log_axis(d3.axisBottom(x), x, d3.format(".3~g")));
  d3.select(vertical).call(log_axis(d3.axisLeft(y), y, share => d3.format("~r")(+(100 * share).toPrecision(3)) + "%"));
  words.append(horizontal, vertical, ...roof(graph, x, y, width),
    svg("text", { class: "dim end", x: width - f.right, y: f.height - 8 }, `intensity: compute time per ${unit_moved(graph)} (${graph.time_unit})`),
    svg("text", { class: "dim start", x: 2, y: 10 }, "share of the machine's peak (this model has no FLOP/cycle)"));
  const marks = svg("g");
  const items = [];
  for (const p of points.slice().sort((a, b) => b.r - a.r)) {
    const point = svg("circle", { class: `point ${kernel_class(p.k)}`, cx: p.x, cy: p.y, r: p.r, tabindex: -1, role: "img",
      "aria-label": `kernel ${p.k}: ${percent_text(p.share)} of its latency computes, ${intensity_words(graph, p)}` });
    items[p.k] = point;
    marks.append(point);
  }
  if (chart.items) chart.items.forEach((old, k) => { view.marks[k] = view.marks[k].filter(element => element !== old); });
  items.forEach((point, k) => mark(view, k, point));
  Object.assign(chart, { items, points, width, names: svg("g", { class: "names", "aria-hidden": "true" }) });
  picture.append(words, marks, chart.names);
  body.replaceChildren(picture);
  chart.obstacles = roof_obstacles(picture);
  rove(marks, () => items);
  name_points(chart, new Set(), new Set());
}

const unit_moved = graph => (graph.size_unit === "B" ? "B moved" : `${one_of(graph.size_unit)} moved`);
const intensity_words = (graph, p) => (p.intensity === Infinity ? "it moves nothing" : `${d3.format(".3~g")(p.intensity)} ${graph.time_unit} of compute per ${unit_moved(graph)}`);

// Ticks of a logarithmic axis: those of a decade only where there is room for them.
function log_axis(axis, scale, format) {
  const [low, high] = scale.domain(), decades = Math.log10(high / low);
  const leading = decades > 3 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const wanted = scale.ticks(20).filter(tick => leading.includes(Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9))));
  return axis.tickValues(wanted).tickFormat(format).tickSizeOuter(0);
}

function roof(graph, x, y, width) {
  const { bandwidth } = graph.machine, f = roofline_frame, right = width - f.right;
  const line = d3.line();
  const parts = [];
  const knee = bandwidth > 0 ? x(1 / bandwidth) : f.left;
  const foot = bandwidth > 0 ? y.domain()[0] / bandwidth : 0;
  const start = bandwidth > 0 ? (foot >= x.domain()[0] ? [x(foot), y(y.domain()[0])] : [f.left, y(bandwidth * x.domain()[0])]) : [f.left, y(1)];
  parts.push(svg("path", { class: "roof", d: line([start, [knee, y(1)], [right, y(1)]]) }));
  parts.push(svg("text", { class: "dim end caption", x: right - 2, y: y(1) - 26 }, "all compute"));
  if (bandwidth > 0) {
    const text = `slope: ${d3.format(",~r")(bandwidth)} ${graph.size_unit} per ${one_of(graph.time_unit)}`;
    parts.push(svg("text", { class: "dim start caption", x: start[0] + 40, y: start[1] - 5 }, text));  // below the slope, which rises
  }
  return parts;
}

// Numbers beside the points, each kernel's once; those of lit kernels only, where there are too many points.
const most_named = 40;

function name_points(chart, hot, warm) {
  if (!chart.points) return;
  const lit = p => hot.has(p.k) || warm.has(p.k), named = chart.points.length > most_named ? chart.points.filter(lit) : chart.points;
  const taken = chart.points.map(p => around(p.x, p.y, 2 * p.r, 2 * p.r)).concat(chart.obstacles), texts = [], leaders = [];
  for (const group of neighbours(named)) {
    const lines = name_lines(group.map(p => p.k)), wide = d3.max(lines, line => text_width(line, "strong")) + 4, high = line_height * lines.length;
    const { x, y, far } = place_of_name(group[0], wide, high, chart.width, taken);
    taken.push(around(x, y, wide, high));
    if (far) leaders.push(`M${group[0].x},${group[0].y}L${x},${y}`);
    lines.forEach((text, i) => texts.push({ x, y: y - high / 2 + (i + 1) * line_height - 3, text, lit: group.some(lit) }));
  }
  const names = d3.select(chart.names);
  names.selectAll("path").data(leaders).join("path").attr("d", d => d);
  names.selectAll("text").data(texts).join("text").attr("class", d => (d.lit ? "middle strong" : "middle dim")).attr("x", d => d.x).attr("y", d => d.y).text(d => d.text).raise();
}

// Points so close to each other that they share a label.
function neighbours(points) {
  const groups = [];
  for (const p of points) {
    const near = groups.find(([first]) => Math.hypot(first.x - p.x, first.y - p.y) < 9);
    if (near) near.push(p);
    else groups.push([p]);
  }
  return groups;
}

// "k1,3-5,9", broken where it is long.
function name_lines(kernels) {
  const lines = [];
  ids_text(kernels).split(",").forEach((part, i) => {
    if (i === 0) lines.push("k" + part);
    else if (text_width(`${lines[lines.length - 1]},${part}`) < 100) lines[lines.length - 1] += "," + part;
    else lines.push(part);
  });
  return lines;
}

// The nearest place around a point where a name hides nothing; the first, if there is none.
function place_of_name({ x, y, r }, wide, high, width, taken) {
  const f = roofline_frame, inside = at => Math.max(f.left + wide / 2, Math.min(width - 2 - wide / 2, at));
  const places = [0, 13, 26, 40, 56].flatMap(d => [
    { x: inside(x), y: y - r - 1 - d - high / 2 }, { x: inside(x), y: y + r + 1 + d + high / 2 }, { x: x + r + 2 + d + wide / 2, y }, { x: x - r - 2 - d - wide / 2, y },
    { x: inside(x + wide / 2 + d), y: y - r - 2 - d - high / 2 }, { x: inside(x - wide / 2 - d), y: y - r - 2 - d - high / 2 }, { x: inside(x + wide / 2 + d), y: y + r + 2 + d + high / 2 },
  ].map(at => ({ ...at, far: d > 13 })));
  const fits = at => at.x === inside(at.x) && at.y - high / 2 > 14 && at.y + high / 2 < f.height - f.bottom;
  return places.find(at => fits(at) && !taken.some(box => overlap(box, around(at.x, at.y, wide, high)))) || places[0];
}

// What names keep clear of: the roof, in small pieces, and its captions.
function roof_obstacles(picture) {
  const line = picture.querySelector(".roof"), length = line.getTotalLength();
  const pieces = d3.range(0, length, 4).map(at => line.getPointAtLength(at)).map(p => around(p.x, p.y, 5, 5));
  const captions = Array.from(picture.querySelectorAll(".caption"), text => text.getBBox()).map(box => around(box.x + box.width / 2, box.y + box.height / 2, box.width, box.height));
  return pieces.concat(captions);
}

const around = (x, y, w, h) => ({ left: x - w / 2, right: x + w / 2, top: y - h / 2, bottom: y + h / 2 });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function roofline_words(graph, plan) {
  const count = side => plan.kernels.filter(kernel => kernel.bound === side).length;
  return `Roofline of ${plural(plan.kernels.length, "kernel")}: ${count("compute")} limited by compute, ${count("memory")} by memory, ${count("both")} by both in turns` +
    (count("fallback") ? `, ${count("fallback")} fallbacks` : "") + `. ${percent_text(plan.totals.compute / (plan.latency || 1))} of the latency computes.`;
}
