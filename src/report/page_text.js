// Elements, numbers and names as texts. Whatever a user called something reaches the page as text or attribute only.

const svg_space = "http://www.w3.org/2000/svg";

function set_attributes(element, attributes) {
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
}

function html(tag, attributes = {}, ...children) {
  const element = set_attributes(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = set_attributes(document.createElementNS(svg_space, tag), attributes);
  element.append(...children);
  return element;
}

const grouped_time = d3.format(",.2f");
const grouped_whole = d3.format(",.0f");
const axis_number = d3.format("~s");

function time_text(x) { return x === null || x === undefined ? "–" : grouped_time(x); }
function size_text(x) { return x === null || x === undefined ? "–" : grouped_whole(x); }
const percent_text = share => (Number.isFinite(share) ? d3.format(".1f")(100 * share) + " %" : "–");
const plural = (count, thing) => `${grouped_whole(count)} ${thing}${count === 1 ? "" : "s"}`;

// Figures that differ by no more than what rounding does to their sums.
const same_figure = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

// "4-6, 9": runs of three and more are written as ranges, as `explain` does.
function ids_text(ids) {
  const parts = [];
  for (let i = 0; i < ids.length;) {
    let end = i;
    while (end + 1 < ids.length && ids[end + 1] === ids[end] + 1) ++end;
    if (end - i >= 2) parts.push(`${ids[i]}-${ids[end]}`);
    else for (let j = i; j <= end; ++j) parts.push(String(ids[j]));
    i = end + 1;
  }
  return parts.length ? parts.join(",") : "-";
}

// A name in one line of at most `limit` characters, without the controls that could reorder what stands around it.
function shown_name(name, limit) {
  const long = name.length > 8 * limit, kept = long ? name.slice(0, 4 * limit) + name.slice(-4 * limit) : name;
  const line = kept.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, " ").replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").trim();
  const characters = Array.from(line);
  return characters.length > limit || long ? cut_to(characters, Math.min(limit, characters.length) - 1) : line;
}

// The first of the characters; and half of them from the end in a name, since names often differ in their tails.
function cut_to(characters, count, name = true) {
  const head = name ? Math.ceil(count / 2) : count, tail = count - head;
  return characters.slice(0, head).join("").trimEnd() + "…" + (tail ? characters.slice(-tail).join("").trimStart() : "");
}

// Its direction stays its own: for HTML, and for SVG and attributes, where there are no elements for it.
const isolated = text => html("bdi", {}, text);
const isolated_text = text => (text ? `\u2068${text}\u2069` : "");

const ruler = document.createElement("canvas").getContext("2d");
const ruler_fonts = { plain: "11px system-ui, sans-serif", strong: "600 11px system-ui, sans-serif" };

function text_width(text, font = "plain") {
  ruler.font = ruler_fonts[font];
  return ruler.measureText(text).width;
}

function fit_text(text, width, font = "plain", name = false) {
  if (text_width(text, font) <= width) return text;
  const characters = Array.from(text.length > 400 ? text.slice(0, 200) + text.slice(-200) : text);
  let low = 0, high = characters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (text_width(cut_to(characters, middle, name), font) <= width) low = middle;
    else high = middle - 1;
  }
  return low ? cut_to(characters, low, name) : "";
}

const colour_count = 10;
const kernel_class = kernel => `c${kernel % colour_count}`;

// "matmul+softmax", counted where a kernel has many: "3 matmul, 2 add".
function ops_text(graph, kernel) {
  const names = kernel.ops.map(op => graph.ops[op].op);
  if (names.length <= 4) return names.join("+");
  const counts = new Map();
  names.forEach(name => counts.set(name, (counts.get(name) || 0) + 1));
  return Array.from(counts, ([name, count]) => (count > 1 ? `${count} ${name}` : name)).join("+");
}

const op_name = (graph, op, limit) => isolated_text(shown_name(graph.ops[op].name, limit));

// The user's names of ops, "q_proj, norm1"; empty where they have none.
function names_text(graph, ops, most = 8) {
  const named = ops.filter(op => graph.ops[op].name);
  return named.slice(0, most).map(op => op_name(graph, op, 40)).join(", ") + (named.length > most ? ", …" : "");
}

function op_title(graph, op) {
  const { op: what, name, shape } = graph.ops[op];
  return `${op}: ${what}, ${shape}` + (name ? `\n${op_name(graph, op, 300)}` : "");
}

// Who a tensor is: the op that makes it, or an input of the graph.
function tensor_text(graph, tensor) {
  const { producer, size } = graph.tensors[tensor];
  if (producer === null) return `tensor ${tensor} (input of the graph, ${size_text(size)} ${graph.size_unit})`;
  const name = op_name(graph, producer, 60);
  return `tensor ${tensor} (${graph.ops[producer].op} ${producer}${name ? " " + name : ""}, ${size_text(size)} ${graph.size_unit})`;
}

const side_words = {
  compute: "limited by compute", memory: "limited by memory", both: "limited by compute and memory in turns",
  fallback: "over capacity: does not fit, so its ops run one by one",
};

const overflow_words = count => (count === 1 ? "1 kernel overflows" : `${grouped_whole(count)} kernels overflow`);

// "over capacity: … (k3, k7)"; empty where all kernels fit.
function over_capacity(plan, most = 6) {
  const over = d3.range(plan.kernels.length).filter(k => plan.kernels[k].bound === "fallback");
  const listed = over.slice(0, most).map(k => `k${k}`).join(", ");
  return over.length ? `${side_words.fallback} (${listed}${over.length > most ? ` and ${grouped_whole(over.length - most)} more` : ""})` : "";
}

// A kernel in one line, for the footer and for those who listen.
function kernel_sentence(graph, plan, index) {
  const kernel = plan.kernels[index], time = graph.time_unit, size = graph.size_unit, names = names_text(graph, kernel.ops);
  return [
    `kernel ${index}`, `ops ${ids_text(kernel.ops)} (${ops_text(graph, kernel)}${names ? `: ${names}` : ""})`, `tile ${kernel.tile}`,
    `latency ${time_text(kernel.latency)} ${time}`, `compute ${time_text(kernel.compute)}`, `memory ${time_text(kernel.memory)}`,
    ...(kernel.launch ? [`launch ${time_text(kernel.launch)}`] : []), side_words[kernel.bound] || kernel.bound,
    `loads ${size_text(kernel.loaded)} ${size}`, `stores ${size_text(kernel.stored)}`,
    `working set ${size_text(kernel.working_set)} (${percent_text(kernel.working_set_share)})`,
    ...(kernel.retain.length ? [`retains ${ids_text(kernel.retain)}`] : []),
  ].join(" · ");
}
