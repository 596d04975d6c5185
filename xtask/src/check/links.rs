//! Links of Markdown pages to files and headings of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::Result;
use super::files::texts;

/// Rejects links to files or headings that do not exist.
pub(super) fn check(repository: &Path) -> Result {
    let pages: Vec<(String, String)> =
        texts(repository)?.into_iter().filter(|(path, _)| path.ends_with(".md")).collect();
    let mut count = 0;
    let mut dead = Vec::new();
    for (path, text) in &pages {
        for target in targets(text) {
            count += 1;
            if !is_reached(repository, path, &target)? {
                dead.push(format!("{path}: {target} does not exist"));
            }
        }
    }
    println!("{count} links in {} pages, {} dead", pages.len(), dead.len());
    if dead.is_empty() { Ok(()) } else { Err(dead.join("\n").into()) }
}

/// Returns the link targets of a page, without URLs.
fn targets(text: &str) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)]+)\)").expect("a valid pattern");
    let links = prose_lines(text).flat_map(|line| link.captures_iter(line)).map(|link| link[1].to_owned());
    links.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// Returns the lines of a page outside of fenced code.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// `true` if the file of a target exists and contains the heading.
fn is_reached(repository: &Path, page: &str, target: &str) -> Result<bool> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => PathBuf::from(page),
        _ => normal(&Path::new(page).parent().unwrap_or(Path::new("")).join(file)),
    };
    let whole = repository.join(&path);
    if heading.is_empty() || !file.is_empty() && path.extension().is_none_or(|extension| extension != "md") {
        return Ok(whole.exists());
    }
    Ok(whole.is_file() && headings(&fs::read_to_string(&whole)?).contains(heading))
}

/// Resolves `.` and `..` in a path.
fn normal(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(all.pop()),
            other => all.push(other),
        }
    }
    all
}

/// Returns the anchors of a page's headings, as GitHub and mdBook generate them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for line in prose_lines(text).filter(|line| line.starts_with('#')) {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|anchor| !all.contains(anchor));
        all.extend(free);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_exclude_code_and_urls() {
        let text = "[a](b.md#c) [d](https://e)\n```text\n[f](g.md)\n```\n[h](#i)";
        assert_eq!(targets(text), ["b.md#c", "#i"]);
    }

    #[test]
    fn heading_anchors_match_github() {
        let found = headings("# What `tdb sql` does, and more\n## Rules\n## Rules\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["rules", "rules-1", "what-tdb-sql-does-and-more"]);
    }

    #[test]
    fn paths_are_relative_to_the_page() {
        assert_eq!(normal(Path::new("docs/guides/../reference/./cli.md")), Path::new("docs/reference/cli.md"));
    }
}
