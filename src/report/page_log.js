// How the search went: the best plan so far and the proven bound, over its steps and over time.

const log_frame = { left: 62, right: 16, top: 18, height: 220, bottom: 42 };

function append_log(section, graph) {
  const last = graph.log[graph.log.length - 1], found = last.incumbent;
  const title = html("h2", {}, "The search of ", isolated(shown_name(graph.name, 80)), " by ", isolated(shown_name(last.engine, 40)));
  const search = html("section", { class: "search" }, title), columns = html("div", { class: "logs" });
  if (has_figure(found) && !graph.plans.some(plan => same_figure(plan.latency, found))) {
    search.append(html("p", { class: "note" }, `Its best, ${time_text(found)}, is the latency of no plan shown here: it has another objective, or found other plans.`));
  }
  search.append(columns);
  section.append(search);
  append_log_chart(columns, graph, "steps");
  append_log_chart(columns, graph, "seconds");
}

const log_curves = { incumbent: "best plan", lower_bound: "proven bound" };

function append_log_chart(parent, graph, field) {
  const body = html("div", { class: "body" });
  const legend = html("span", { class: "legend" });
  for (const key in log_curves) {
    const known = graph.log.filter(entry => has_value(entry, key));
    legend.append(html("span", { class: key }, log_curves[key], " ", html("b", {}, known.length ? time_text(known[known.length - 1][key]) : "none")));
  }
  parent.append(html("section", { class: "view" }, html("div", { class: "bar" }, html("h3", {}, field === "steps" ? "Over steps" : "Over time"), legend), body));
  draw_chart(body, width => body.replaceChildren(draw_log(graph, field, width)));
}

const has_value = (entry, key) => has_figure(entry[key]) && entry[key] > 0;

// Logarithmic where the log spans more than two decades; what came before the first mark stands at the left edge.
function log_scale(values, range) {
  const positive = values.filter(value => value > 0), most = d3.max(positive) || 1, least = d3.min(positive) || 1;
  if (most / least <= 100) return { scale: d3.scaleLinear().domain([0, most * 1.05]).range(range), log: false };
  return { scale: d3.scaleLog().domain([least / 1.5, most * 1.5]).range(range).clamp(true), log: true };
}

function draw_log(graph, field, width) {
  const { log } = graph, f = log_frame, right = width - f.right;
  const { scale: x, log: decades } = log_scale(log.map(entry => entry[field]), [f.left, right]);
  const at = entry => x(decades ? Math.max(entry[field], x.domain()[0]) : entry[field]);
  const values = Object.keys(log_curves).flatMap(key => log.filter(entry => has_value(entry, key)).map(entry => entry[key]));
  const [low, high] = d3.extent(values), room = (high - low || high * 0.02 || 1) * 0.08;
  const y = d3.scaleLinear().domain([low - room, high + room]).range([f.height - f.bottom, f.top]);
  const picture = svg("svg", { class: "chart", width, height: f.height, viewBox: `0 0 ${width} ${f.height}`, role: "img", "aria-label": log_words(graph, field) });
  const horizontal = svg("g", { class: "axis", transform: `translate(0,${f.height - f.bottom})` }), vertical = svg("g", { class: "axis", transform: `translate(${f.left},0)` });
  const axis = d3.axisBottom(x).tickSizeOuter(0), format = field === "steps" ? axis_number : value => axis_number(value) + "s";
  d3.select(horizontal).call(decades ? log_axis(axis, x, format) : axis.ticks(Math.max(2, width / 90)).tickFormat(format));
  d3.select(vertical).call(d3.axisLeft(y).ticks(5).tickFormat(d3.format(`.${tick_digits(low, high)}~s`)).tickSizeOuter(0));
  picture.append(horizontal, vertical,
    svg("text", { class: "dim end", x: right, y: f.height - 6 }, field === "steps" ? "steps" : "time of the search"), svg("text", { class: "dim start", x: 2, y: 10 }, `objective (${graph.time_unit})`));
  for (const key of ["lower_bound", "incumbent"]) picture.append(...log_curve(log, key, at, y, right));
  return picture;
}

// Digits that tell the ticks of a narrow range apart.
const tick_digits = (low, high) => Math.min(7, Math.max(3, 2 + Math.ceil(Math.log10(high / (high - low || high) || 1))));

function log_curve(log, key, at, y, right) {
  const known = log.filter(entry => has_value(entry, key));
  if (!known.length) return [];
  const last = known[known.length - 1];
  const points = known.map(entry => [at(entry), y(entry[key])]).concat([[right, y(last[key])]]);
  return [
    svg("path", { class: `curve ${key}`, d: d3.line().curve(d3.curveStepAfter)(points) }),
    ...known.slice(0, 400).map(entry => svg("circle", { class: `dot ${key}`, cx: at(entry), cy: y(entry[key]), r: 2.5 })),
  ];
}

function log_words(graph, field) {
  const { log } = graph, last = log[log.length - 1];
  const first = log.find(entry => has_figure(entry.incumbent)) || last;
  return `The search over ${field === "steps" ? "its steps" : "time"}: from ${time_text(first.incumbent)} to ${time_text(last.incumbent)} ${graph.time_unit} ` +
    `after ${size_text(last.steps)} steps and ${d3.format(".3~g")(last.seconds)} seconds; proven bound ${time_text(last.lower_bound)}.`;
}
