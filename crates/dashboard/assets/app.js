// What pages can do beyond being read: live parts, current times, the theme, copying, completion of tool names.
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
    showWaiting();
  };

  // How many calls wait, where a page in the background shows it.
  let title = null;
  const showWaiting = () => {
    title ??= document.title;
    const waiting = document.querySelector("[data-waiting]")?.dataset.waiting;
    document.title = waiting ? `(${waiting}) ${title}` : title;
  };

  const startLive = (element) => {
    const staysHidden = "liveHidden" in element.dataset;
    let source = null;
    let ended = false;
    const connect = () => {
      if (source || ended || (document.hidden && !staysHidden)) return;
      source = new EventSource(element.dataset.live);
      source.addEventListener("message", (event) => swap(element, event.data, false));
      source.addEventListener("add", (event) => swap(element, event.data, true));
      source.addEventListener("end", () => { ended = true; disconnect(); });
    };
    const disconnect = () => { if (source) source.close(); source = null; };
    // Browsers allow few connections to one server: hidden pages give theirs back.
    document.addEventListener("visibilitychange", () => (document.hidden && !staysHidden ? disconnect() : connect()));
    addEventListener("pagehide", disconnect);
    connect();
  };

  // Copying: the text of a field, which stays there for those who copy by hand.
  const startCopy = (button) => {
    const field = document.getElementById(button.dataset.copy);
    if (!field) return;
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = "Copied";
      } catch {
        field.closest("details")?.setAttribute("open", "");
        field.focus();
        field.select();
        button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = label; }, 3000);
    });
  };

  // Playground: colors behind the text, as in parts/code.rs. The text field itself stays plain.
  const COLORED_MAX = 50000;
  const PIECES = new RegExp([
    /(?<remark>#[^\n]*)/,
    /(?<text>"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /\b(?<word>False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with)\b/,
    /\b(?<figure>\d[\w.]*)/,
  ].map((piece) => piece.source).join("|"), "g");

  const startColors = (area) => {
    const back = document.createElement("pre");
    back.className = "code backdrop";
    back.setAttribute("aria-hidden", "true");
    area.before(back);
    const scroll = () => { back.scrollTop = area.scrollTop; back.scrollLeft = area.scrollLeft; };
    const paint = () => {
      const code = area.value;
      area.parentElement.classList.toggle("lit", code.length <= COLORED_MAX);
      if (code.length > COLORED_MAX) return;
      const nodes = [];
      let end = 0;
      for (const found of code.matchAll(PIECES)) {
        const span = document.createElement("span");
        span.className = Object.entries(found.groups).find(([, text]) => text !== undefined)[0];
        span.textContent = found[0];
        nodes.push(code.slice(end, found.index), span);
        end = found.index + found[0].length;
      }
      // The last line break needs something after it to take up space.
      back.replaceChildren(...nodes, `${code.slice(end)}\n `);
      scroll();
    };
    area.addEventListener("input", paint);
    area.addEventListener("scroll", scroll);
    new ResizeObserver(scroll).observe(area);
    paint();
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
      area.dispatchEvent(new Event("input"));
      close();
      area.focus();
    };
    // Below the line that is being written.
    const place = () => {
      const line = area.value.slice(0, area.selectionStart).split("\n").length;
      const top = area.offsetTop + 10 + line * parseFloat(getComputedStyle(area).lineHeight) - area.scrollTop;
      list.style.top = `${Math.min(top, area.offsetTop + area.offsetHeight)}px`;
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
      place();
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
    showWaiting();
    document.querySelectorAll("[data-live]").forEach(startLive);
    document.querySelectorAll("[data-copy]").forEach(startCopy);
    document.querySelectorAll("textarea[data-complete]").forEach((area) => {
      startColors(area);
      startCompletion(area);
    });
    // Escape closes the menu of small screens.
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && location.hash === "#menu") location.hash = "#main";
    });
  });
})();
