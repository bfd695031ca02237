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

  document.addEventListener("DOMContentLoaded", () => localise(document));
  document.addEventListener("htmx:after:swap", () => localise(document));
})();
