// Choosing a node in all views at once, sorting tables, zooming the graph. Without it the report can still be read.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const rows = all("#table tbody tr");
  const names = [];
  rows.forEach(row => { names[row.dataset.node] = row.dataset.name; });
  let chosen = null;

  // The views: what stands for a node in each, by the node's place in the order.
  const views = [
    { root: one("#table"), of: node => one(`#table tr[data-node="${node}"] a`) },
    { root: one("#dag"), of: node => one(`#dag [data-node="${node}"]`) },
    { root: one("#lifetimes"), of: node => one(`#lifetimes [data-node="${node}"]`) },
  ].filter(view => view.root);

  const inOrder = root => root.id === "table"
    ? all("tbody tr", root).map(row => Number(row.dataset.node))
    : names.map((_, node) => node);

  // One stop of the tab key in each view; arrow keys move within.
  function tabStops() {
    views.forEach(({ root, of }) => {
      const order = inOrder(root);
      const stop = chosen === null ? order[0] : chosen;
      order.forEach(node => {
        const item = of(node);
        if (item) item.setAttribute("tabindex", node === stop ? "0" : "-1");
      });
    });
  }

  // Brings an item into its pane without moving the page.
  function reveal(item, pane) {
    if (!item || !pane) return;
    const [a, b] = [item.getBoundingClientRect(), pane.getBoundingClientRect()];
    const shift = (low, high, from, to) => (low < from || high > to) ? (low + high - from - to) / 2 : 0;
    pane.scrollLeft += shift(a.left, a.right, b.left, b.right);
    pane.scrollTop += shift(a.top, a.bottom, b.top, b.bottom);
  }

  function choose(node) {
    chosen = node;
    const has = (list, what) => (list || "").split(" ").includes(String(what));
    document.documentElement.classList.toggle("some-chosen", node !== null);
    all("[data-node]").forEach(item => item.classList.toggle("chosen", Number(item.dataset.node) === node));
    rows.forEach(row => row.setAttribute("aria-selected", String(Number(row.dataset.node) === node)));
    all("svg [data-node]").forEach(item => item.setAttribute("aria-pressed", String(Number(item.dataset.node) === node)));
    all("[data-touches]").forEach(item => item.classList.toggle("touched", node !== null && has(item.dataset.touches, node)));
    all("[data-ends]").forEach(item => item.classList.toggle("touched", node !== null && has(item.dataset.ends, node)));
    // Arrows from one port share the line they begin with; the whole way of a chosen one is shown.
    all("[data-ends] .hit").forEach(way => way.classList.toggle("line", way.parentNode.classList.contains("touched")));
    all("[data-details]").forEach(item => { item.hidden = Number(item.dataset.details) !== node; });
    const panel = one("#chosen");
    if (panel) panel.hidden = node === null;
    tabStops();
    if (node !== null) {
      reveal(one(`#dag [data-node="${node}"]`), one("#dag"));
      reveal(one(`#lifetimes [data-node="${node}"] text`), one("#lifetimes"));
    }
  }

  // The part of the address after # names the node, so that a link to it can be kept and sent.
  function fromAddress() {
    const match = /^#node=(.*)$/.exec(location.hash);
    if (!match) return;
    let name = match[1];
    try { name = decodeURIComponent(name); } catch { /* Not ours; then it names no node. */ }
    const node = names.indexOf(name);
    choose(node < 0 ? null : node);
  }

  function go(node) {
    const address = node === null ? location.pathname + location.search : `#node=${encodeURIComponent(names[node])}`;
    try { history.replaceState(null, "", address); } catch { /* Some viewers forbid it; choosing works all the same. */ }
    choose(node);
  }

  // Node under the pointer; in the memory view a click anywhere in a column means its node.
  function nodeAt(event) {
    const item = event.target.closest("[data-node]");
    if (item) return Number(item.dataset.node);
    const drawing = event.target.closest("svg[data-column]");
    if (!drawing) return null;
    const box = drawing.getBoundingClientRect();
    const scale = drawing.viewBox.baseVal.width / box.width;
    const at = Math.floor(((event.clientX - box.left) * scale - drawing.dataset.left) / drawing.dataset.column);
    return at >= 0 && at < names.length ? at : null;
  }

  document.addEventListener("click", event => {
    if (event.target.closest("#close")) return go(null);
    const link = event.target.closest("a.node");
    if (link) {
      event.preventDefault();
      const node = names.indexOf(decodeURIComponent(link.hash.slice("#node=".length)));
      return node >= 0 && go(node);
    }
    if (event.target.closest("a, button")) return;
    const node = nodeAt(event);
    if (node !== null) go(node);
  });

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen !== null) return go(null);
    const item = event.target.closest && event.target.closest("[data-node]");
    const view = item && views.find(({ root }) => root.contains(item));
    if (!view) return;
    const order = inOrder(view.root);
    const at = order.indexOf(Number(item.dataset.node));
    const step = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: order.length - 1,
      Enter: at, " ": at }[event.key];
    if (step === undefined || !(step in order)) return;
    event.preventDefault();
    go(order[step]);
    const next = view.of(order[step]);
    next.focus({ preventScroll: true });
    if (view.root.id === "table") next.scrollIntoView({ block: "nearest" });
  });

  // Sorting. What has no number goes last, whichever way.
  function sort(table, column, ascending) {
    const key = row => {
      const cell = row.cells[column];
      if (!cell) return null;
      return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim() || null;
    };
    const body = table.tBodies[0];
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    const keyed = [...body.rows].map(row => [key(row), row]);
    keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : ascending ? compare(a, b) : compare(b, a));
    body.append(...keyed.map(([, row]) => row));
    all("thead th", table).forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    tabStops();
  }

  all("table.sortable").forEach(table => all("thead th", table).forEach((head, column) => {
    const button = one("button", head);
    if (!button) return;
    button.addEventListener("click", () => {
      // Numbers are asked for largest first, but for the order of nodes.
      const now = head.getAttribute("aria-sort");
      const first = head.classList.contains("num") && column > 0 ? "descending" : "ascending";
      sort(table, column, now ? now !== "ascending" : first === "ascending");
    });
  }));

  function zoom(how) {
    const pane = one("#dag"), drawing = pane && one("svg", pane);
    if (!drawing) return;
    pane.classList.toggle("fit", how === "fit");
    const { width, height } = drawing.viewBox.baseVal;
    const scale = how === "half" ? .5 : 1;
    drawing.setAttribute("width", width * scale);
    drawing.setAttribute("height", height * scale);
    all("[data-zoom]").forEach(button => button.setAttribute("aria-pressed", String(button.dataset.zoom === how)));
    if (chosen !== null) reveal(one(`#dag [data-node="${chosen}"]`), pane);
  }
  all("[data-zoom]").forEach(button => button.addEventListener("click", () => zoom(button.dataset.zoom)));

  all("svg [data-node]").forEach(item => {
    item.setAttribute("role", "button");
    item.setAttribute("aria-label", names[item.dataset.node]);
  });
  zoom("fit");
  choose(null);
  fromAddress();
  addEventListener("hashchange", fromAddress);
})();
