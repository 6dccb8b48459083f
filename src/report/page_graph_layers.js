// What the two drawings of a graph consist of: boxes where graphviz put them, filled with what fits.

const line_height = 13;

function detail_layer(canvas) {
  const { view } = canvas, { graph, plan } = view, drawing = plan.drawing;
  const areas = svg("g"), lines = edges_group(drawing.edges), boxes = svg("g"), covers = svg("g"), heads = svg("g");
  const nodes_of = plan.kernels.map(() => []), idle = [], labels = [], items = [];  // idle: ops that no kernel runs
  for (const node of drawing.nodes) (nodes_of[node.kernel] || idle).push(node);
  for (const cluster of drawing.clusters) {
    const k = cluster.kernel, nodes = nodes_of[k];
    const area = svg("g", { class: `area ${kernel_class(k)}` + (plan.fault && plan.fault.kernel === k ? " faulty" : "") }, svg("rect", { ...place(cluster), rx: 4 }));
    areas.append(mark(view, k, area));
    const inside = svg("g", { "data-k": k, class: kernel_class(k) }, ...nodes.map(node => op_box(graph, node)));
    boxes.append(inside);
    const { head, write } = head_of(view, cluster, d3.min(nodes, node => node.y) - cluster.y);
    const texts = svg("g"), title = svg("g");
    inside.append(texts);
    head.append(title);
    labels.push({ box: cluster, groups: [texts, title], make() {
      nodes.forEach(node => label_op(graph, node, texts));
      write(title);
      texts.append(big_number(cluster, k));
    } });
    items[k] = head;
    heads.append(head);
  }
  const rest = svg("g", { class: "outside idle" }, ...idle.map(node => op_box(graph, node)));
  boxes.append(rest);
  for (const node of idle) labels.push({ box: node, groups: [], make: () => label_op(graph, node, rest) });
  canvas.covers = covers;
  canvas.heads = items;
  return { group: svg("g", { class: "detail" }, areas, lines, boxes, covers, heads), items: items.filter(Boolean), labels };
}

const place = box => ({ x: box.x, y: box.y, width: box.w, height: box.h });

function edges_group(edges) {
  const group = svg("g", { class: "edges", "aria-hidden": "true" });
  for (const edge of edges) group.append(svg("path", { d: edge.path }));
  return group;
}

// Shown instead of all other labels where those would be too small to read, as is the short one of a box.
function big_number(box, kernel) {
  return svg("text", { class: "big", x: box.x + box.w / 2, y: box.y + box.h / 2, "aria-hidden": "true" }, String(kernel));
}

const short_size = 17;

function short_label(box, text) {
  return svg("text", { class: "short", x: box.x + box.w / 2, y: box.y + box.h / 2, "aria-hidden": "true" }, fit_text(text, (box.w - 6) * 11 / short_size));
}

function op_box(graph, node) {
  return svg("g", { class: "op" }, svg("title", {}, op_title(graph, node.op)), svg("rect", { ...place(node), rx: 3 }));
}

function label_op(graph, node, group) {
  const op = graph.ops[node.op], text = `${node.op} ${op.op}`;
  const second = op.name ? shown_name(op.name, 60) : op.shape;
  const labels = svg("g", { class: "oplabel" });
  write_lines(labels, node, [[text, "strong"], [second, "plain", op.name]]);
  labels.append(short_label(node, text));
  group.append(labels);
}

// As many of the lines as fit, in the middle of the box; each cut to its width.
function write_lines(group, box, lines, top = 0) {
  const room = Math.max(1, Math.floor((box.h - top - 2) / line_height));
  const shown = lines.slice(0, room);
  const first = box.y + top + (box.h - top - shown.length * line_height) / 2 + 10;
  shown.forEach(([text, font, user], i) => {
    const cut = fit_text(text, box.w - 8, font, Boolean(user));
    group.append(svg("text", { class: font, x: box.x + box.w / 2, y: first + i * line_height }, user ? isolated_text(cut) : cut));
  });
}

// Within the frame, if graphviz left `room` for it; else on its edge. `write` labels it.
function head_of(view, cluster, room) {
  const k = cluster.kernel, kernel = view.plan.kernels[k];
  const height = room >= 16 ? Math.min(room - 2, 28) : 16, top = room >= 16 ? cluster.y : cluster.y - 12;
  const head = svg("g", {
    class: `head ${kernel_class(k)}`, "data-k": k, role: "button", tabindex: -1, "aria-expanded": "true",
    "aria-label": `kernel ${k}, ${plural(kernel.ops.length, "op")}`,
  }, svg("rect", { x: cluster.x, y: top, width: cluster.w, height, rx: 4 }));
  const write = group => {
    const size = Math.round(0.62 * height), number = `k${k}`, cost = axis_number_of(kernel.latency), y = top + height / 2;
    group.setAttribute("font-size", size);
    group.append(svg("text", { class: "strong start", x: cluster.x + 6, y }, number));
    const both = text_width(`${number}  ${cost}`, "strong") * size / 11;
    if (both < cluster.w - 12) group.append(svg("text", { class: "end", x: cluster.x + cluster.w - 6, y }, cost));
  };
  return { head, write };
}

const axis_number_of = x => d3.format(".3~s")(x);

// A folded kernel stays where it is: a cover with its summary lies over its inside.
function fold(canvas, kernel, on) {
  if (on === canvas.folded.has(kernel)) return;
  if (!canvas.layers.detail) return;
  const cluster = canvas.view.plan.drawing.clusters.find(box => box.kernel === kernel);
  if (!cluster) return;
  const old = canvas.covers.querySelector(`[data-k="${kernel}"]`);
  if (on) {
    canvas.folded.add(kernel);
    if (old) old.style.display = "";
    else canvas.covers.append(cover_of(canvas.view, cluster));
  } else {
    canvas.folded.delete(kernel);
    if (old) old.style.display = "none";
  }
  canvas.heads[kernel].setAttribute("aria-expanded", String(!on));
}

function cover_of(view, cluster) {
  const k = cluster.kernel;
  const cover = svg("g", { class: `cover ${kernel_class(k)}` }, svg("title", {}, kernel_title(view, k)), svg("rect", { ...place(cluster), rx: 4 }), big_number(cluster, k));
  write_lines(cover, cluster, summary_lines(view, k), 16);
  cover.append(short_label({ ...cluster, h: cluster.h + 16 }, plural(view.plan.kernels[k].ops.length, "op")));
  return mark(view, k, cover);
}

function summary_lines(view, k) {
  const { graph, plan } = view, kernel = plan.kernels[k];
  return [
    [ops_text(graph, kernel), "strong"], [`${kernel.ops.length > 1 ? "ops" : "op"} ${ids_text(kernel.ops)}`, "plain"],
    [`${time_text(kernel.latency)}`, "plain"], [`tile ${kernel.tile}`, "plain"], [kernel.bound, "plain"],
  ];
}

const kernel_title = (view, k) => {
  const names = view.plan.kernels[k].ops.slice(0, 12).map(op => op_title(view.graph, op).replace("\n", " "));
  return kernel_sentence(view.graph, view.plan, k) + "\n" + names.join("\n");
};

function overview_layer(canvas) {
  const { view } = canvas, { plan } = view, drawing = plan.overview;
  const boxes = svg("g"), items = [], labels = [];
  for (const node of drawing.nodes) {
    const k = node.kernel, kernel = plan.kernels[k], texts = svg("g");
    const box = svg("g", {
      class: `box ${kernel_class(k)}` + (plan.fault && plan.fault.kernel === k ? " faulty" : ""), role: "button", tabindex: -1,
      "aria-label": `kernel ${k}, ${plural(kernel.ops.length, "op")}; opens`,
    }, svg("rect", { ...place(node), rx: 4 }), texts);
    labels.push({ box: node, groups: [texts], make() {
      write_lines(texts, node, [[`k${k}  ${ops_text(view.graph, kernel)}`, "strong"], [time_text(kernel.latency), "plain"], [`ops ${ids_text(kernel.ops)}`, "plain"]]);
      texts.append(short_label(node, `k${k} ${axis_number_of(kernel.latency)}`), big_number(node, k));
    } });
    boxes.append(mark(view, k, box));
    items[k] = box;
  }
  return { group: svg("g", { class: "overview" }, edges_group(drawing.edges), boxes), items: items.filter(Boolean), labels };
}
