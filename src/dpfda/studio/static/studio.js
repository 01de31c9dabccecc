// Repeats a form's GET while a slider moves, and a job's page while it runs. Everything works without it, by a button.
"use strict";

const form = document.getElementById("planner");
if (form) {
  const result = document.getElementById("result");
  let running = false, again = false, timer = 0;

  // Sliders stand beside their fields, and move along the steps that people count in.
  for (const slider of form.querySelectorAll("input.slider")) {
    const field = document.getElementById(slider.dataset.for), steps = slider.dataset.steps.split(" ");
    const near = (value) => steps.reduce((best, step, i) =>
      Math.abs(Math.log(step / value)) < Math.abs(Math.log(steps[best] / value)) ? i : best, 0);
    const follow = () => {
      const value = Number(field.value);
      if (value > 0) slider.value = near(value);
      slider.setAttribute("aria-valuetext", field.value);
    };
    follow();
    slider.hidden = false;
    slider.addEventListener("input", () => { field.value = steps[slider.value]; follow(); if (form.dataset.quick) ask(0); });
    slider.addEventListener("change", () => ask(0));
    field.addEventListener("input", follow);
  }

  // Questions that depend on another answer.
  const unfold = () => {
    for (const each of form.querySelectorAll("[data-when]")) {
      const said = document.getElementById(each.dataset.when).value;
      each.hidden = !each.dataset.is.split(" ").includes(said);
    }
  };

  const query = () => {
    const said = new URLSearchParams(new FormData(form));
    for (const each of form.querySelectorAll("[data-still]")) said.delete(each.name);
    return said.toString();
  };

  // What is wrong is said beside its field too.
  const mark = () => {
    form.querySelectorAll("[aria-invalid]").forEach((each) => {
      each.removeAttribute("aria-invalid");
      each.removeAttribute("aria-describedby");
    });
    form.querySelectorAll("p.error").forEach((each) => each.remove());
    const told = result.querySelector("[data-wrong]"), field = told && document.getElementById(told.dataset.wrong);
    if (!field) return;
    const words = document.createElement("p");
    words.className = "error";
    words.id = field.id + "-error";
    words.textContent = told.textContent;
    field.closest(".field").append(words);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", words.id);
  };

  // What keeps the picture from following: it stays, and it is said that it is of what stood here before.
  const trouble = (words) => {
    document.getElementById("trouble")?.remove();
    const note = document.createElement("div"), line = document.createElement("p");
    note.id = "trouble";
    note.className = "note poor";
    note.setAttribute("role", "alert");
    line.textContent = words + " What you see is of what stood here before.";
    note.append(line);
    result.prepend(note);
  };

  async function renew() {
    if (running) { again = true; return; }
    running = true;
    const asked = query();
    result.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.part + "?" + asked, { credentials: "same-origin" });
      if (!answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        trouble(page.querySelector("main p")?.textContent ?? "The studio refused this page: load it again.");
      } else {
        const open = [...result.querySelectorAll("details")].map((each) => each.open);
        result.innerHTML = await answer.text();
        result.querySelectorAll("details").forEach((each, i) => { each.open = Boolean(open[i]); });
        mark();
        history.replaceState(null, "", form.getAttribute("action") + "?" + asked);
        const carried = document.getElementById("carried").value;
        for (const link of document.querySelectorAll("[data-carry]")) link.href = link.dataset.carry + "?" + carried;
      }
    } catch {
      trouble("The studio does not answer: it may have ended.");
    } finally {
      running = false;
      result.setAttribute("aria-busy", "false");
      if (again) { again = false; renew(); }
    }
  }

  const ask = (wait) => { clearTimeout(timer); timer = setTimeout(renew, wait); };
  form.addEventListener("input", (event) => {
    unfold();
    if (event.target.id === "what" || event.target.dataset.still || event.target.classList.contains("slider")) return;
    ask(form.dataset.quick ? 60 : 600);
  });

  // Another kind is another form. A mouse asks for it at once, keys with Enter or on the way out: arrows pass by.
  const what = document.getElementById("what"), kind = what.value;
  let keys = false;
  const turn = () => { if (what.value !== kind) form.requestSubmit(); };
  what.addEventListener("pointerdown", () => { keys = false; });
  what.addEventListener("keydown", (event) => { keys = true; if (event.key === "Enter") turn(); });
  what.addEventListener("change", () => { if (!keys) turn(); });
  what.addEventListener("blur", turn);
}

const watch = document.getElementById("watch");
if (watch) {
  // Words and progress change in place: whoever is at the Cancel button stays there, and a reader hears news only.
  let missed = 0;
  const look = async () => {
    const job = document.getElementById("job");
    if (job.dataset.over === "yes") { location.reload(); return; }
    try {
      const answer = await fetch(watch.dataset.part, { credentials: "same-origin" });
      if (answer.ok) {
        const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("job");
        const words = document.getElementById("told"), fresh = made.querySelector("#told").textContent;
        const bar = job.querySelector("progress"), moved = made.querySelector("progress");
        if (words.textContent !== fresh) words.textContent = fresh;
        if (bar && moved) bar.value = moved.value;
        else if (bar) bar.remove();
        else if (moved) words.after(moved);
        if (made.dataset.cancellable === "no") document.getElementById("cancel")?.remove();
        job.dataset.over = made.dataset.over;
      }
      missed = 0;
    } catch { missed += 1; }
    if (missed < 10) { setTimeout(look, 400); return; }
    job.querySelector("progress")?.remove();
    document.getElementById("cancel")?.remove();
    document.getElementById("told").textContent = "The studio does not answer: it may have ended. Its ledger, which the terminal "
      + "and a new studio show, tells whether this was charged.";
  };
  if (document.getElementById("job").dataset.over === "no") setTimeout(look, 400);
}
