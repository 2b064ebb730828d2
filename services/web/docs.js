// Draws /openapi.json: one entry an operation, with its body and answer fields. Text nodes only.
const byId = (id) => document.getElementById(id);

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

function resolve(schema, document_) {
  const name = schema?.$ref?.split("/").pop();
  return name ? document_.components.schemas[name] : schema;
}

function typeOf(schema, document_) {
  if (!schema) return "";
  if (schema.anyOf) return schema.anyOf.map((option) => typeOf(option, document_)).join(" | ");
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.type === "array") return `${typeOf(schema.items, document_)}[]`;
  return schema.const !== undefined ? JSON.stringify(schema.const) : schema.type ?? "any";
}

function fields(title, schema, document_) {
  const shape = resolve(schema, document_);
  const properties = Object.entries(shape?.properties ?? {});
  if (properties.length === 0) return [];
  const table = element("table");
  table.append(element("caption", title));
  for (const [name, value] of properties) {
    const row = element("tr");
    const head = element("th", name);
    head.scope = "row";
    const required = shape.required?.includes(name) ? "" : value.default === undefined ? "optional" : `default ${JSON.stringify(value.default)}`;
    row.append(head, element("td", typeOf(value, document_)), element("td", required));
    table.append(row);
  }
  return [table];
}

function operation(path, method, spec, document_) {
  const box = element("details");
  const summary = element("summary");
  summary.append(element("span", method.toUpperCase(), "method"), element("code", path));
  box.append(summary, element("p", spec.description ?? spec.summary ?? ""));
  const body = spec.requestBody?.content?.["application/json"]?.schema;
  const answer = spec.responses?.["200"]?.content?.["application/json"]?.schema;
  box.append(...fields("Request", body, document_), ...fields("Answer", answer, document_));
  box.dataset.search = `${method} ${path} ${spec.description ?? ""}`.toLowerCase();
  return box;
}

const answer = await fetch("/openapi.json");
const openapi = await answer.json();
const boxes = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, spec]) => operation(path, method, spec, openapi)));
byId("operations").append(...boxes);

function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  let shown = 0;
  for (const box of boxes) {
    box.hidden = !box.dataset.search.includes(wanted);
    shown += box.hidden ? 0 : 1;
  }
  byId("count").textContent = `${shown} / ${boxes.length}`;
}
byId("filter").addEventListener("input", filter);
filter();
