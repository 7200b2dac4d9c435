// What pages can do beyond being read: live parts, current times, the theme, completion of tool names.
"use strict";

(() => {
  // Theme: the system's, unless chosen here.
  const THEMES = ["system", "light", "dark"];

  const stored = () => {
    try {
      const theme = localStorage.getItem("theme");
      return THEMES.includes(theme) ? theme : "system";
    } catch {
      return "system";
    }
  };

  const applyTheme = (theme) => {
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = theme;
  };

  const startThemeSwitch = () => {
    const buttons = document.querySelectorAll("[data-theme-switch]");
    let theme = stored();
    const label = () => buttons.forEach((button) => { button.textContent = `Theme: ${theme}`; });
    label();
    for (const button of buttons) {
      button.hidden = false;
      button.addEventListener("click", () => {
        theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
        try { localStorage.setItem("theme", theme); } catch { /* Holds for this page only. */ }
        applyTheme(theme);
        label();
      });
    }
  };

  // Times: said as the server says them (time.rs).
  const ago = (then, now) => {
    const seconds = Math.floor(now / 1000) - Math.floor(then / 1000);
    const size = Math.abs(seconds);
    if (size < 10) return "just now";
    const length = size < 60 ? `${size} s`
      : size < 3600 ? `${Math.floor(size / 60)} min`
      : size < 86400 ? `${Math.floor(size / 3600)} h`
      : `${Math.floor(size / 86400)} d`;
    return seconds > 0 ? `${length} ago` : `in ${length}`;
  };

  const refreshTimes = () => {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const then = Date.parse(time.dateTime);
      if (!Number.isNaN(then)) time.textContent = ago(then, Date.now());
    }
  };

  // Live parts. The server escapes what it sends, as in a page; the content security policy stands behind that.
  const swap = (element, html, add) => {
    // Nobody loses what they are typing.
    const busy = () => element.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
    if (!add && busy()) {
      element.addEventListener("focusout", () => setTimeout(() => swap(element, html, add)), { once: true });
      return;
    }
    const open = [...element.querySelectorAll("details")].map((details) => details.open);
    if (add) element.insertAdjacentHTML("beforeend", html);
    else element.innerHTML = html;
    element.querySelectorAll("details").forEach((details, at) => { if (open[at]) details.open = true; });
    refreshTimes();
  };

  const startLive = (element) => {
    let source = null;
    let ended = false;
    const connect = () => {
      if (source || ended || document.hidden) return;
      source = new EventSource(element.dataset.live);
      source.addEventListener("message", (event) => swap(element, event.data, false));
      source.addEventListener("add", (event) => swap(element, event.data, true));
      source.addEventListener("end", () => { ended = true; disconnect(); });
    };
    const disconnect = () => { if (source) source.close(); source = null; };
    // Browsers allow few connections to one server: hidden pages give theirs back.
    document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
    addEventListener("pagehide", disconnect);
    connect();
  };

  // Playground: names of tools, as you type.
  const CHOICES = 8;

  const startCompletion = (area) => {
    const list = document.getElementById("completions");
    const home = document.getElementById(area.dataset.complete);
    if (!list || !home) return;
    const names = [...home.querySelectorAll("[data-name]")].map((name) => name.textContent);
    let chosen = 0;

    const word = () => area.value.slice(0, area.selectionStart).match(/[\w.]+$/)?.[0] ?? "";
    const close = () => { list.hidden = true; list.replaceChildren(); };
    const mark = () => [...list.children].forEach((item, at) => {
      item.setAttribute("aria-selected", String(at === chosen));
      if (at === chosen) item.scrollIntoView({ block: "nearest" });
    });
    const take = (name) => {
      area.setRangeText(name, area.selectionStart - word().length, area.selectionStart, "end");
      close();
      area.focus();
    };
    const offer = () => {
      const begun = word().toLowerCase();
      const found = begun.length < 2 ? [] : names
        .filter((name) => name.toLowerCase().includes(begun) && name !== word())
        .sort((a, b) => b.toLowerCase().startsWith(begun) - a.toLowerCase().startsWith(begun))
        .slice(0, CHOICES);
      list.replaceChildren(...found.map((name) => {
        const item = document.createElement("li");
        item.setAttribute("role", "option");
        item.textContent = name;
        item.addEventListener("mousedown", (event) => { event.preventDefault(); take(name); });
        return item;
      }));
      list.hidden = found.length === 0;
      chosen = 0;
      mark();
    };

    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Tool names");
    area.addEventListener("input", offer);
    area.addEventListener("blur", close);
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        area.form.requestSubmit();
      } else if (list.hidden) {
        return;
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : list.children.length - 1;
        chosen = (chosen + step) % list.children.length;
        mark();
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        take(list.children[chosen].textContent);
      } else if (event.key === "Escape") {
        close();
      }
    });
  };

  applyTheme(stored());
  document.addEventListener("DOMContentLoaded", () => {
    startThemeSwitch();
    refreshTimes();
    setInterval(refreshTimes, 15000);
    document.querySelectorAll("[data-live]").forEach(startLive);
    document.querySelectorAll("textarea[data-complete]").forEach(startCompletion);
    // Escape closes the menu of small screens.
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && location.hash === "#menu") location.hash = "#main";
    });
  });
})();
