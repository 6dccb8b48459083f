// The graph of a plan: the drawing of ops, where a kernel can be folded in place, and the overview, a box a kernel.
// Boxes and edges are made once; panning and zooming set one attribute and a class that says what is legible. Labels
// are what costs time at every zoom: those of a kernel are made when it first comes into sight, and are there while it is.

const many_ops = 150;      // from here on the overview comes first
// What is legible from which zoom on: all labels of 11 px; one of 20 px a box; a number a kernel; nothing.
const zoom_levels = [["near", 0.65], ["middle", 0.36], ["far", 0.17], ["tiny", 0]];

function append_graph(parent, view, beside) {
  const { graph, plan } = view;
  const note = "Drag to pan. Ctrl and the wheel zoom; after a click into the drawing the wheel alone does. A kernel's header folds it.";
  const { bar, body } = view_panel_in(parent, view, "drawing", "Graph", note);
  if (!plan.drawing && !plan.overview) {
    body.append(html("p", { class: "note" }, "There is no drawing of this plan."));
    return;
  }
  const canvas = make_canvas(view, body, beside);
  const buttons = [
    tool("Overview", () => canvas.use("overview")),
    tool("All ops", () => { canvas.use("detail"); canvas.unfold(); }),
    tool("−", () => canvas.scale_by(1 / 1.4), "Zoom out"), tool("+", () => canvas.scale_by(1.4), "Zoom in"),
    tool("Fit", () => canvas.fit()),
  ];
  buttons[0].title = "Collapse all: one box a kernel";
  buttons[1].title = "Expand all: every op, in its kernel";
  canvas.on_use = name => buttons.slice(0, 2).forEach((button, i) => button.setAttribute("aria-pressed", String((i === 0) === (name === "overview"))));
  bar.append(html("span", { class: "buttons", role: "group", "aria-label": "Drawing" }, ...buttons));
  buttons[0].hidden = !plan.overview;
  buttons[1].hidden = !plan.drawing;
  canvas.use(first_drawing(graph, plan));
}

const first_drawing = (graph, plan) => (plan.overview && (!plan.drawing || graph.ops.length > many_ops) ? "overview" : "detail");

function view_panel_in(parent, ...rest) {
  const made = view_panel(...rest);
  parent.append(made.panel);
  return made;
}

function tool(text, act, label) {
  const button = html("button", { type: "button" }, text);
  if (label) set_attributes(button, { "aria-label": label, title: label });
  button.addEventListener("click", act);
  return button;
}

function make_canvas(view, body, beside) {
  const { graph, plan } = view;
  const picture = svg("svg", { class: "canvas", tabindex: -1, role: "group", "aria-label": drawing_words(graph, plan) });
  const moved = svg("g");
  picture.append(moved);
  body.append(picture);
  const canvas = { view, picture, moved, shown: null, layers: {}, width: 0, height: 0, folded: new Set(), on_use() {} };
  const zoom = d3.zoom().filter(() => may_zoom(picture)).on("zoom", () => move_canvas(canvas, d3.event.transform));
  d3.select(picture).call(zoom).on("dblclick.zoom", null).style("touch-action", "pan-x pan-y");
  canvas.zoom = zoom;
  canvas.scale_by = factor => d3.select(picture).call(zoom.scaleBy, factor);
  canvas.fit = least => fit_canvas(canvas, least);
  canvas.use = name => use_layer(canvas, name);
  canvas.unfold = () => Array.from(canvas.folded).forEach(k => fold(canvas, k, false));
  draw_to_width(body, width => {
    canvas.width = width;
    canvas.height = canvas_height(view, width, beside);
    set_attributes(picture, { width, height: canvas.height, viewBox: `0 0 ${width} ${canvas.height}` });
    if (canvas.shown) canvas.fit(true);
  });
  picture.addEventListener("click", event => act_on_canvas(canvas, event.target));
  picture.addEventListener("keydown", event => keys_on_canvas(canvas, event));
  view.revealers.push((kernels, source) => reveal_in_canvas(canvas, kernels, source));
  view.printers.push(() => print_canvas(canvas));
  window.addEventListener("afterprint", () => restore_canvas(canvas));
  matchMedia("print").addEventListener("change", event => { if (!event.matches) restore_canvas(canvas); });
  return canvas;
}

// The wheel alone belongs to the page, and one finger too, until the drawing has the focus.
function may_zoom(picture) {
  const event = d3.event;
  if (event.type === "wheel") return event.ctrlKey || event.metaKey || picture.contains(document.activeElement);
  if (event.touches) return event.touches.length > 1;
  return !event.button && !event.ctrlKey;
}

// As tall as the charts beside it, if there are any. Else all plans of a graph get the same height, so that what stands
// below them stays side by side.
function canvas_height(view, width, beside) {
  if (beside.offsetLeft > 0 && beside.offsetTop === beside.previousElementSibling.offsetTop) return Math.max(400, beside.offsetHeight - 90);
  const roomy = width > 600 || view.graph.plans.length === 1 ? 720 : 560;
  let want = 260;
  for (const plan of view.graph.plans) {
    const drawing = first_drawing(view.graph, plan) === "overview" ? plan.overview : plan.drawing;
    if (!drawing) continue;
    const { width: w, height: h } = drawing;
    want = Math.max(want, 16 + h * Math.min(1, (width - 16) / w));
  }
  return Math.round(Math.min(want, roomy));
}

function use_layer(canvas, name) {
  if (!canvas.layers[name]) {
    const layer = name === "overview" ? overview_layer(canvas) : detail_layer(canvas);
    canvas.layers[name] = layer;
    canvas.moved.append(layer.group);
    rove(layer.group, () => layer.items);
  }
  for (const other in canvas.layers) canvas.layers[other].group.style.display = other === name ? "" : "none";
  const changed = canvas.shown !== name;
  canvas.shown = name;
  canvas.on_use(name);
  if (changed) canvas.fit(true);
}

const drawing_of = canvas => (canvas.shown === "overview" ? canvas.view.plan.overview : canvas.view.plan.drawing);

// With `legible`, a drawing that would be too small to read begins at its first kernel instead.
function fit_canvas(canvas, legible = false) {
  const { width: w, height: h } = drawing_of(canvas);
  const whole = Math.min((canvas.width - 16) / w, (canvas.height - 16) / h, 1);
  canvas.zoom.scaleExtent([Math.min(whole, 0.25), 4]).translateExtent([[-w / 2 - 300, -h / 2 - 300], [1.5 * w + 300, 1.5 * h + 300]]);
  let at = d3.zoomIdentity.translate((canvas.width - w * whole) / 2, (canvas.height - h * whole) / 2).scale(whole);
  const first = legible && whole < 0.25 && box_of(canvas, 0);
  if (first) {
    at = d3.zoomIdentity.translate(canvas.width / 2 - 0.7 * (first.x + first.w / 2), 12 - 0.7 * first.y).scale(0.7);
  }
  d3.select(canvas.picture).call(canvas.zoom.transform, at);
}

function move_canvas(canvas, transform) {
  canvas.moved.setAttribute("transform", transform);
  const level = zoom_levels.find(([, from]) => transform.k >= from)[0];
  if (level !== "tiny") label_in_sight(canvas, transform);
  if (level === canvas.level) return;
  if (canvas.level) canvas.picture.classList.remove(canvas.level);
  canvas.picture.classList.add(level);
  canvas.level = level;
}

function label_in_sight(canvas, transform) {
  const [left, top] = transform.invert([0, 0]), [right, bottom] = transform.invert([canvas.width, canvas.height]);
  for (const labels of canvas.layers[canvas.shown].labels) {
    const { x, y, w, h } = labels.box;
    show_labels(labels, x < right && x + w > left && y < bottom && y + h > top);
  }
}

function show_labels(labels, on) {
  if (labels.shown === on) return;
  labels.shown = on;
  if (on && labels.make) {
    labels.make();
    labels.make = null;
  }
  for (const group of labels.groups) group.style.display = on ? "" : "none";
}

function box_of(canvas, kernel) {
  const drawing = drawing_of(canvas);
  return (canvas.shown === "overview" ? drawing.nodes : drawing.clusters).find(box => box.kernel === kernel);
}

function reveal_in_canvas(canvas, kernels) {
  const box = box_of(canvas, kernels[0]);
  if (!box) return;
  const at = d3.zoomTransform(canvas.picture);
  const [left, top] = at.apply([box.x, box.y]), [right, bottom] = at.apply([box.x + box.w, box.y + box.h]);
  const inside = left >= 0 && top >= 0 && right <= canvas.width && bottom <= canvas.height;
  if (!inside) d3.select(canvas.picture).call(canvas.zoom.translateTo, box.x + box.w / 2, box.y + box.h / 2);
}

function act_on_canvas(canvas, target) {
  const element = target.closest(".head, .cover, .box");
  if (!element) return;
  const kernel = Number(element.closest("[data-k]").getAttribute("data-k"));
  if (canvas.shown === "overview") { if (canvas.view.plan.drawing) open_kernel(canvas, kernel); }
  else fold(canvas, kernel, !canvas.folded.has(kernel));
}

// From the overview into the drawing of ops, at this kernel.
function open_kernel(canvas, kernel) {
  fold(canvas, kernel, false);
  canvas.use("detail");
  const box = box_of(canvas, kernel);
  if (!box) return;
  d3.select(canvas.picture).call(canvas.zoom.scaleTo, 1).call(canvas.zoom.translateTo, box.x + box.w / 2, box.y + box.h / 2);
  enter(canvas.layers.detail.items[kernel]);
}

function keys_on_canvas(canvas, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") act_on_canvas(canvas, event.target);
  else if (event.key === "+" || event.key === "=") canvas.scale_by(1.4);
  else if (event.key === "-") canvas.scale_by(1 / 1.4);
  else if (event.key === "0") canvas.fit();
  else return;
  event.preventDefault();
}

function print_canvas(canvas) {
  const { width, height } = drawing_of(canvas);
  const scale = Math.min(1, paper_width / width);
  set_attributes(canvas.picture, { width: scale * width, height: scale * height, viewBox: `0 0 ${width} ${height}` });
  canvas.moved.removeAttribute("transform");
  canvas.layers[canvas.shown].labels.forEach(labels => show_labels(labels, true));
  if (canvas.level) canvas.picture.classList.replace(canvas.level, "near");
  canvas.level = "near";
}

function restore_canvas(canvas) {
  set_attributes(canvas.picture, { width: canvas.width, height: canvas.height, viewBox: `0 0 ${canvas.width} ${canvas.height}` });
  move_canvas(canvas, d3.zoomTransform(canvas.picture));
}

function drawing_words(graph, plan) {
  return `Graph of ${plural(graph.ops.length, "op")} in ${plural(plan.kernels.length, "kernel")}. ` +
    "Arrow keys move from kernel to kernel, Enter folds or opens one, plus, minus and 0 zoom.";
}
