"use strict";
// Puts what changed into the page, where a person may be reading, and says when it no longer knows.
(() => {
  let stream = null, busy = false, again = false, seen = new Date();
  const byId = (id) => document.getElementById(id);

  function lost() {
    const text = "Cannot look: the dashboard does not answer. This page is of " + seen.toLocaleTimeString() + ".";
    if (byId("summary") && byId("summary").textContent !== text) byId("summary").textContent = text;
    document.title = "Cannot look";
  }

  // Parts that are the same, and the form that a person may be filling in, stay as they are.
  function exchange(before, after) {
    const parts = new Map([...before.children].map((part) => [part.id || part.tagName, part]));
    const wanted = [...after.children].map((part) => {
      const old = parts.get(part.id || part.tagName);
      return old && (old.id === "filter" || old.isEqualNode(part)) ? old : part;
    });
    for (const part of [...before.children]) if (!wanted.includes(part)) part.remove();
    wanted.forEach((part, at) => { if (before.children[at] !== part) before.insertBefore(part, before.children[at] || null); });
  }

  function show(next) {
    const active = document.activeElement;
    const same = active && active !== document.body && [...document.querySelectorAll("a, [id], [tabindex]")].includes(active)
      ? (active.id ? "#" + CSS.escape(active.id) : active.getAttribute("href") && 'a[href="' + CSS.escape(active.getAttribute("href")) + '"]') : null;
    const x = scrollX, y = scrollY;
    for (const details of next.querySelectorAll("details")) details.open = Boolean(byId(details.id) && byId(details.id).open);
    exchange(byId("main"), next.getElementById("main"));
    for (const id of ["summary", "source"]) {
      const old = byId(id), fresh = next.getElementById(id);
      if (old && fresh && old.textContent !== fresh.textContent) {
        if (id === "summary") old.textContent = fresh.textContent; else old.firstChild.textContent = fresh.firstChild.textContent;
      }
    }
    document.title = next.title;
    if (same && !document.contains(active)) {
      const found = document.querySelector(same);
      if (found) found.focus({ preventScroll: true });
    }
    scrollTo({ left: x, top: y, behavior: "instant" });
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.status !== 200 && answer.status !== 404) throw new Error(answer.status);
      seen = new Date();
      show(next);
    } catch { lost(); } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  }

  // A browser opens six connections to a server: pages that are not looked at leave theirs to others.
  function connect() {
    if (document.hidden || stream) return;
    const mine = stream = new EventSource("/events");
    mine.onopen = refresh;
    mine.addEventListener("changed", refresh);
    mine.onerror = () => {
      lost();
      if (mine.readyState === EventSource.CLOSED && stream === mine) { stream = null; setTimeout(connect, 5000); }
    };
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && stream) { stream.close(); stream = null; } else connect();
  });
  if (byId("summary")) connect();
})();
