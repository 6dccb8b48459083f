// The graph of a plan: the drawing of ops, where a kernel can be folded in place, and the overview, a box a kernel.
// Elements are made once; panning and zooming set one attribute, and classes say what is legible at a zoom.

const many_ops = 150;      // from here on the overview comes first
const legible_from = 0.55; // zoom from which labels of 11 px are shown
const head_height = 16;

function append_graph(parent, view) {
  const { graph, plan } = view;
  const note = "Drag to pan. Ctrl and the wheel zoom; after a click into the drawing the wheel alone does. A kernel's header folds it.";
  const { bar, body } = view_panel_in(parent, view, "drawing", "Graph", note);
  if (!plan.drawing || !plan.overview || !plan.kernels.length) {
    body.append(html("p", { class: "note" }, "There is no drawing of this plan."));
    return;
  }
  const canvas = make_canvas(view, body);
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
  canvas.use(graph.ops.length > many_ops ? "overview" : "detail");
}

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

function make_canvas(view, body) {
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
    canvas.height = canvas_height(view, width);
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

// All plans of a graph get the same height, so that what stands below them stays side by side.
function canvas_height(view, width) {
  const roomy = width > 600 || view.graph.plans.length === 1 ? 660 : 520;
  let want = 260;
  for (const plan of view.graph.plans) {
    if (!plan.drawing) continue;
    const { width: w, height: h } = view.graph.ops.length > many_ops ? plan.overview : plan.drawing;
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
  if (legible && whole < 0.3) {
    const first = box_of(canvas, 0);
    at = d3.zoomIdentity.translate(canvas.width / 2 - 0.7 * (first.x + first.w / 2), 12 - 0.7 * first.y).scale(0.7);
  }
  d3.select(canvas.picture).call(canvas.zoom.transform, at);
}

function move_canvas(canvas, transform) {
  canvas.moved.setAttribute("transform", transform);
  canvas.picture.classList.toggle("far", transform.k < legible_from);
  if (transform.k < legible_from) canvas.picture.style.setProperty("--far", `${Math.round(12 / transform.k)}px`);
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
  if (canvas.shown === "overview") open_kernel(canvas, kernel);
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
  else if (event.key === "Escape") document.activeElement.blur();
  else return;
  event.preventDefault();
}

function print_canvas(canvas) {
  const { width, height } = drawing_of(canvas);
  set_attributes(canvas.picture, { viewBox: `0 0 ${width} ${height}` });
  canvas.moved.removeAttribute("transform");
  canvas.picture.classList.remove("far");
}

function restore_canvas(canvas) {
  set_attributes(canvas.picture, { viewBox: `0 0 ${canvas.width} ${canvas.height}` });
  move_canvas(canvas, d3.zoomTransform(canvas.picture));
}

function drawing_words(graph, plan) {
  return `Graph of ${plural(graph.ops.length, "op")} in ${plural(plan.kernels.length, "kernel")}. ` +
    "Arrow keys move from kernel to kernel, Enter folds or opens one, plus, minus and 0 zoom.";
}
