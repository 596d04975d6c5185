//! Tests of pages in a real browser, at two widths and in both color schemes. The console must stay
//! empty, labels must stay within their pictures without overlap, and text must be readable.
//!
//! The test searches for Chromium by its usual names. Without Chromium it prints a message and
//! passes, unless `TDB_BROWSER=required` is set, as in `cargo xtask ci`. `TDB_BROWSER_KEEP=FOLDER`
//! keeps the pages in that folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tdb_array::Group;
use tdb_report::Report;
use tdb_testkit::fixtures;

use crate::support::{HOSTILE, hostile, many_fragments, named};

const FIXTURES: [&str; 10] = [
    "v1-by-tdb-dense",
    "v1-by-tdb-sparse",
    "v12-by-2.8.3-sparse-strings",
    "v22-by-2.30.0-dense-1d",
    "v22-by-2.30.0-dense-2d-row-row",
    "v22-by-2.30.0-dense-consolidated",
    "v22-by-2.30.0-dense-metadata",
    "v22-by-2.30.0-sparse-1d",
    "v22-by-2.30.0-sparse-2d",
    "v22-by-2.30.0-sparse-consolidated",
];

/// Checks each page in a frame of each width, and records problems.
const SCRIPT: &str = r#"
const problems = [], notes = [];
window.addEventListener('error', event => problems.push('error: ' + event.message));
function channels(color) { return color.match(/[\d.]+/g).map(Number); }
function luminance(color) {
  const part = value => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const [r, g, b] = channels(color);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
  return (x + 0.05) / (y + 0.05);
}
function background(element) {
  for (; element; element = element.parentElement) {
    const color = element.ownerDocument.defaultView.getComputedStyle(element).backgroundColor;
    if (!/, 0\)$/.test(color)) return color;
  }
  return 'rgb(255, 255, 255)';
}
function look(frame, name, width) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const say = what => problems.push(name + ' at ' + width + ': ' + what);
  if (!page || !page.querySelector('h1')) return say('nothing is shown');
  page.querySelectorAll('details').forEach(details => details.open = true);
  if (page.querySelector('script, img, iframe, object, link')) say('something is loaded or run');
  if (page.documentElement.scrollWidth > width) say('wider than the window: ' + page.documentElement.scrollWidth);
  let texts = 0, pictures = 0;
  for (const svg of page.querySelectorAll('svg')) {
    pictures++;
    const box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 10) say('a picture of ' + box.width + ' by ' + box.height);
    if (!svg.querySelector('title') || !svg.querySelector('desc').textContent) say('a picture without words');
    const shapes = svg.querySelectorAll('rect, line');
    if (!shapes.length) say('an empty picture');
    for (const shape of shapes) {
      const own = shape.getBoundingClientRect();
      if (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1)
        say('a shape out of its picture: ' + shape.outerHTML);
    }
    const labels = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
    labels.forEach(([text, own], index) => {
      texts++;
      if (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1)
        say('a label out of its picture: ' + text.textContent);
      if (own.height < 8) say('a label too small to read: ' + text.textContent);
      if (contrast(view.getComputedStyle(text).fill, background(svg)) < 4.5) say('a label too pale: ' + text.textContent);
      for (const [other, its] of labels.slice(index + 1)) {
        const across = Math.min(own.right, its.right) - Math.max(own.left, its.left);
        const down = Math.min(own.bottom, its.bottom) - Math.max(own.top, its.top);
        if (across > 0.5 && down > 2.5) say('labels over each other: ' + text.textContent + ' / ' + other.textContent);
      }
    });
  }
  for (const element of page.querySelectorAll('p, dt, dd, li, figcaption, td, summary, pre, footer'))
    if (contrast(view.getComputedStyle(element).color, background(element)) < 4.5) say('text too pale: ' + element.tagName);
  notes.push(name + ' ' + width + ' ' + pictures + ' ' + texts + ' ' + view.matchMedia('(prefers-color-scheme: dark)').matches);
}
window.addEventListener('load', () => {
  for (const frame of document.querySelectorAll('iframe')) look(frame, frame.title, frame.clientWidth);
  document.getElementById('result').textContent = JSON.stringify({ problems, notes });
});
"#;

/// Returns the path of the browser, if installed.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> =
        FIXTURES.map(|name| (name.to_owned(), Report::new().array(name, &named(name)).unwrap())).into();
    pages.push(("hostile".to_owned(), Report::new().array(HOSTILE, &hostile()).unwrap()));
    pages.push(("many".to_owned(), Report::new().array("many", &many_fragments(500)).unwrap()));
    pages.push(("several".to_owned(), Report::new().array("several", &many_fragments(30)).unwrap()));
    let fixture = fixtures::named("v22-by-2.30.0-group");
    let folder = tempfile::tempdir().unwrap();
    fixture.unpack_into(folder.path());
    let group = Group::open(folder.path().join("group")).unwrap();
    let open = |node: &tdb_array::TreeNode| {
        Some(tdb_array::ArrayOptions::new().open_on(node.storage.clone()?).map_err(Into::into))
    };
    pages.push(("group".to_owned(), Report::new().group("group", &group, open).unwrap()));
    pages
}

/// Opens a file in the browser. Returns the DOM and the console output.
fn shown(browser: &Path, file: &Path, scheme: &str, folder: &Path) -> (String, String) {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    command.args(["--window-size=1400,1000", "--virtual-time-budget=10000"]);
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let output = command.arg(format!("file://{}", file.display())).output().expect("the browser runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Pages of the browser itself report a slow machine.
    let of_page = |line: &&str| line.contains("CONSOLE") && !line.contains("source: chrome://");
    let console: Vec<&str> = said.lines().filter(of_page).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console.join("\n"))
}

#[test]
fn pages_are_readable_in_a_browser() {
    let Some(browser) = browser() else {
        assert!(env::var_os("TDB_BROWSER").is_none_or(|value| value != "required"), "Chromium is missing");
        eprintln!("NOT TESTED: Chromium is missing, and no browser has checked the pages");
        return;
    };
    let temporary = tempfile::tempdir().unwrap();
    let pages = pages();
    let mut frames = String::new();
    for (name, page) in &pages {
        let file = temporary.path().join(format!("{name}.html"));
        fs::write(&file, page).unwrap();
        if let Some(folder) = env::var_os("TDB_BROWSER_KEEP") {
            fs::create_dir_all(&folder).unwrap();
            fs::copy(&file, Path::new(&folder).join(format!("{name}.html"))).unwrap();
        }
        // The content security policy would block the test script, which is not part of the page.
        let open = page.replace("Content-Security-Policy", "ignored").replace('&', "&amp;").replace('"', "&quot;");
        for width in [1280, 400] {
            frames.push_str(&format!(
                "<iframe title=\"{name}\" style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{open}\"></iframe>\n"
            ));
        }
    }
    let all = temporary.path().join("all.html");
    let head = "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">";
    fs::write(&all, format!("{head}<script>{SCRIPT}</script><pre id=\"result\"></pre>{frames}")).unwrap();
    for (scheme, is_dark) in [("1", "false"), ("0", "true")] {
        let (dom, console) = shown(&browser, &all, scheme, temporary.path());
        let result =
            dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next()).expect("a result");
        assert!(result.contains("\"problems\":[],"), "{}", result.replace("\",\"", "\n"));
        assert_eq!(result.matches(&format!(" {is_dark}\"")).count(), 2 * pages.len(), "{result}");
        assert_eq!(console, "");
    }
    // A broken page proves that the script detects problems.
    let bad = "<h1>x</h1><svg viewBox='0 0 360 40'><title>t</title><desc>d</desc><rect width='400' height='9' x='0' y='0'/>\
               <text x='300' y='20'>a long label, cut by nothing</text><text x='300' y='22' fill='silver'>another</text></svg>";
    let frame = format!("<iframe title=\"bad\" style=\"width:400px\" srcdoc=\"{bad}\"></iframe>");
    let file = temporary.path().join("bad.html");
    fs::write(&file, format!("{head}<script>{SCRIPT}</script><pre id=\"result\"></pre>{frame}")).unwrap();
    let (dom, _) = shown(&browser, &file, "1", temporary.path());
    for what in ["a label out of its picture", "labels over each other", "a shape out of its picture", "too pale"] {
        assert!(dom.contains(what), "{what}");
    }
    // The unmodified page with its content security policy.
    let (dom, console) = shown(&browser, &temporary.path().join("hostile.html"), "1", temporary.path());
    assert!(dom.contains("<h1>") && console.is_empty(), "{console}");
}
