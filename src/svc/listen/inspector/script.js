"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const main = document.querySelector("main");
  const root = main.dataset.root;
  const rows = () => [...document.querySelectorAll("#list .row")];

  document.documentElement.classList.add("scripted");
  byId("keys")?.removeAttribute("hidden");

  // A refused form stands at the address that it was sent to; what is shown is the delivery.
  if (location.pathname.endsWith("/replay")) {
    history.replaceState(null, "", location.pathname.replace(/\/replay$/, "") + location.search);
    byId("to")?.focus();
  }

  // A page of ours, parsed by the browser: markup is never put together here.
  const load = (url) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("GET", url);
      request.responseType = "document";
      request.onload = () => (request.response ? resolve(request.response) : reject());
      request.onerror = reject;
      request.send();
    });

  const swap = (id, fresh) => {
    const [old, next] = [byId(id), fresh.getElementById(id)];
    if (!old || !next || old.outerHTML === next.outerHTML) return;
    const focused = old.contains(document.activeElement) && document.activeElement;
    old.replaceWith(document.adoptNode(next));
    if (focused) {
      const path = focused.pathname;
      rows().find((row) => row.pathname === path)?.focus({ preventScroll: true });
    }
  };

  const swapList = (fresh) => {
    for (const id of ["list", "pages", "clear"]) swap(id, fresh);
  };

  // --- moving from delivery to delivery -------------------------------------------------------

  let turn = 0;

  const show = async (url, remember) => {
    const mine = ++turn;
    let fresh;
    try {
      fresh = await load(url);
    } catch {
      location.href = url;
      return;
    }
    if (mine !== turn) return;
    if (remember) history.pushState(null, "", url);
    document.title = fresh.title;
    swapList(fresh);
    swap("detail", fresh);
    main.className = fresh.querySelector("main").className;
    const current = rows().find((row) => row.hasAttribute("aria-current"));
    (byId("detail-title") ?? current ?? rows()[0])?.focus();
    if (main.classList.contains("open")) byId("detail").scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      return;
    if (link.matches(".row, .back")) {
      event.preventDefault();
      show(link.href, true);
    } else if (link.id === "curl") {
      event.preventDefault();
      copy(link.href);
    }
  });

  window.addEventListener("popstate", () => show(location.href, false));

  const step = (by) => {
    const all = rows();
    let at = all.indexOf(document.activeElement);
    if (at < 0) at = all.findIndex((row) => row.hasAttribute("aria-current"));
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };

  const leave = () => {
    if (main.classList.contains("open")) show(root + location.search, true);
  };

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => {
      if (byId("fold")) byId("fold").open = true;
      if (!byId("text")?.offsetParent) return;
      byId("text").focus();
      byId("text").select();
    },
    r: () => byId("replay")?.requestSubmit(),
    Escape: leave,
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && key === "r")
      return;
    if (target.matches("input, select, textarea")) {
      if (key === "Escape") target.blur();
      return;
    }
    if (!Object.hasOwn(keys, key)) return;
    event.preventDefault();
    keys[key]();
  });

  // --- the filter -----------------------------------------------------------------------------

  const filter = byId("filter");
  let waiting = 0;

  // On a phone the list comes first, unless the filter is what makes it what it is.
  const small = matchMedia("(max-width: 39.99rem)");
  const fold = () => {
    if (!byId("fold")) return;
    byId("fold").open = !small.matches || !byId("clear").hidden;
  };
  small.addEventListener("change", fold);
  fold();

  const narrow = async () => {
    const given = [...new FormData(filter)].filter(([, value]) => value.trim());
    const query = given.length ? `?${new URLSearchParams(given)}` : "";
    const url = location.pathname + query;
    const mine = ++turn;
    try {
      const fresh = await load(url);
      if (mine !== turn) return;
      history.replaceState(null, "", url);
      swapList(fresh);
      const count = rows().length;
      byId("news").textContent = `${count} shown`;
    } catch {
      connected(false);
    }
  };

  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(narrow, 200);
  };

  filter?.addEventListener("input", soon);
  filter?.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    narrow();
  });

  // --- copying and replaying ------------------------------------------------------------------

  const say = (text) => {
    const said = byId("said");
    if (said) said.textContent = text;
  };

  const copy = async (url) => {
    try {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error();
      await navigator.clipboard.writeText((await answer.text()).trimEnd());
      say("Copied. It is signed now and good for five minutes.");
    } catch {
      location.href = url;
    }
  };

  // What a reload would say again leaves the address; the browser has been led to it by then.
  const arrive = () => {
    const address = new URL(location.href);
    address.searchParams.delete("sent");
    address.hash = "";
    history.replaceState(null, "", address);
    byId("said").focus();
  };

  if (byId("said")?.textContent) addEventListener("load", () => setTimeout(arrive));

  // --- news -----------------------------------------------------------------------------------

  const PAUSE = 400;
  const SHARE = 4; // a page that is slow to draw is drawn less often
  let source = null;
  let counts = null;
  let loading = false;
  let again = false;

  const connected = (on) => {
    const link = byId("link");
    link.hidden = false;
    link.className = on ? "on" : "";
    link.textContent = on ? "Live" : "Not connected";
  };

  const refresh = async () => {
    again = true;
    if (loading) return;
    loading = true;
    while (again) {
      again = false;
      const started = performance.now();
      const [mine, url] = [turn, location.href];
      try {
        const fresh = await load(url);
        if (mine === turn && url === location.href) {
          swapList(fresh);
          if (byId("forwards")?.textContent !== fresh.getElementById("forwards")?.textContent)
            swap("forwards", fresh);
        }
      } catch {
        connected(false);
      }
      const pause = Math.max(PAUSE, SHARE * (performance.now() - started));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    loading = false;
  };

  const tell = (fresh) => {
    const received = fresh.received - counts.received;
    const rejected = fresh.rejected - counts.rejected;
    const parts = [];
    if (received > 0) parts.push(`${received} new`);
    if (rejected > 0) parts.push(`${rejected} rejected`);
    if (parts.length) byId("news").textContent = parts.join(", ");
  };

  const listen = () => {
    source = new EventSource(`${root}changes`);
    source.onopen = () => connected(true);
    source.onerror = () => connected(false);
    source.onmessage = (event) => {
      const fresh = JSON.parse(event.data);
      if (counts) tell(fresh);
      counts = fresh;
      refresh();
    };
  };

  // A browser keeps six connections to one place: a hidden tab needs none.
  const look = () => {
    source?.close();
    source = null;
    if (!document.hidden) listen();
  };

  document.addEventListener("visibilitychange", look);
  window.addEventListener("pagehide", () => source?.close());
  window.addEventListener("pageshow", (event) => event.persisted && look());
  look();
})();
