// Small comforts; every page works without them.
(() => {
  "use strict";

  // Times in the zone of the browser: the server writes them in the zone of the memory.
  const pad = (number) => String(number).padStart(2, "0");
  function localise(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const moment = new Date(time.dateTime);
      const shown = time.querySelector(".moment");
      if (!shown || Number.isNaN(moment.getTime())) continue;
      const offset = -moment.getTimezoneOffset();
      const sign = offset < 0 ? "-" : "+";
      const zone = offset ? `UTC${sign}${pad(Math.trunc(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}` : "UTC";
      const day = `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
      shown.textContent = `${day} ${pad(moment.getHours())}:${pad(moment.getMinutes())} ${zone}`;
    }
  }

  // Tell the server the zone, so that days, drawings and sentences are in it too: once, and again after a journey.
  function tellZone() {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const told = `credenda-zone=${timeZone}`;
    const isNews = !document.cookie.split("; ").includes(told);
    if (isNews) document.cookie = `${told}; path=/; max-age=31536000; samesite=lax`;
    for (const said of document.querySelectorAll("[data-zone]")) {
      if (said.dataset.zone === timeZone) continue;
      said.textContent = said.textContent.replace(said.dataset.zone, timeZone);
      if (isNews && document.cookie.split("; ").includes(told)) location.reload();
    }
  }

  // A key leads to the field that names it, unless the person is writing.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const field = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
    if (field) {
      event.preventDefault();
      field.focus();
    }
  });

  // A box that ticks all others of its form.
  document.addEventListener("change", (event) => {
    const all = event.target.closest("[data-ticks]");
    if (all) {
      for (const box of all.form.querySelectorAll(`input[type=checkbox][name="${all.dataset.ticks}"]`)) {
        box.checked = all.checked;
      }
    }
  });

  // A slider over days sets the date field beside it: data-sets names the field, the value is days before data-until.
  document.addEventListener("input", (event) => {
    const slider = event.target.closest("input[type=range][data-sets]");
    if (!slider) return;
    const field = slider.form.elements[slider.dataset.sets];
    const day = new Date(`${slider.dataset.until}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() - (Number(slider.max) - Number(slider.value)));
    field.value = slider.value === slider.max ? "" : day.toISOString().slice(0, 10);
  });

  // The progress of a job: the server tells of each state, and at the end the page is loaded anew.
  function follow(root) {
    for (const job of root.querySelectorAll("[data-job]")) {
      const source = new EventSource(`/v1/jobs/${encodeURIComponent(job.dataset.job)}/events`);
      const show = (event) => {
        const state = JSON.parse(event.data);
        const progress = job.querySelector("progress");
        if (progress && state.total) {
          progress.max = state.total;
          progress.value = state.done;
        }
        const figure = job.querySelector(".figure");
        if (figure && state.done) figure.textContent = state.total ? `${state.done} / ${state.total}` : state.done;
        if (!["complete", "dead", "cancelled"].includes(event.type)) return;
        source.close();
        location.reload();
      };
      for (const name of ["queued", "processing", "failed", "complete", "dead", "cancelled"]) {
        source.addEventListener(name, show);
      }
    }
  }

  // Parts that show something live are loaded again for some minutes, while the person looks at them.
  let refreshes = 60;
  const refresh = setInterval(() => {
    if (refreshes-- < 1) clearInterval(refresh);
    if (document.visibilityState !== "visible") return;
    for (const part of document.querySelectorAll("[data-live]")) part.dispatchEvent(new Event("refresh"));
  }, 5000);

  // A button that copies the text of the element that it names.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copies]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent.trim());
    button.textContent = button.dataset.done;
  });

  document.addEventListener("DOMContentLoaded", () => {
    tellZone();
    localise(document);
    follow(document);
  });
  document.addEventListener("htmx:after:swap", () => localise(document));
})();
