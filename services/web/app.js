// The start page: is the service well, and how does one pair with it.
const TEXTS = {
  en: {
    state: "State", pair: "Pair a client", pair1: "Ask for a pairing code where the service runs:", or: "or, in the compose stack,",
    pair2: "Enter the six digits in your client, with this address:", pair3: "A code works once and changes every 30 seconds.",
    more: "More", api: "HTTP API", ready: "Ready", notReady: "Not ready", unreachable: "The service does not answer.",
    ok: "ok", down: "down", other: "中文",
  },
  zh: {
    state: "状态", pair: "配对客户端", pair1: "在服务运行的机器上获取配对码：", or: "或在 compose 部署中使用",
    pair2: "在客户端中输入六位数字，地址为：", pair3: "配对码只能使用一次，每 30 秒更换。",
    more: "更多", api: "HTTP API", ready: "就绪", notReady: "未就绪", unreachable: "服务没有响应。",
    ok: "正常", down: "不可用", other: "English",
  },
};
const POLL_MS = 3000;
const byId = (id) => document.getElementById(id);
let language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
let last = null;

function paint() {
  const texts = TEXTS[language];
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = texts[node.dataset.text];
  byId("language").textContent = texts.other;
  byId("language").lang = language === "zh" ? "en" : "zh";
  byId("address").textContent = location.origin;
  const state = byId("state");
  state.textContent = last === null ? "…" : last.error ? texts.unreachable : last.status === "ready" ? texts.ready : texts.notReady;
  state.className = last?.status === "ready" ? "good" : "bad";
  byId("parts").replaceChildren(...Object.entries(last?.parts ?? {}).map(([name, value]) => {
    const item = document.createElement("li");
    item.className = value === "ok" ? "good" : "bad";
    item.textContent = `${name}: ${texts[value] ?? value}`;
    return item;
  }));
}

async function poll() {
  try {
    const answer = await fetch("/readyz", { cache: "no-store" });
    last = await answer.json();
  } catch {
    last = { error: true };
  }
  paint();
  setTimeout(poll, POLL_MS);
}

byId("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  paint();
});
paint();
poll();
fetch("/api/status").then((answer) => answer.json()).then((status) => {
  byId("version").textContent = `Handrail ${status.version} · ${status.platformName} ${status.arch}`;
}, () => { byId("version").textContent = ""; });
