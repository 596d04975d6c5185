//! Measures the prose of doc comments, comments, error messages and Markdown.
//!
//! A vague word is a pronoun in the place of a noun (*what*, *that*, *those*, *it*, *one*). A
//! clause opening is a sentence that begins with a subordinate clause (*What is ...*). A stock
//! phrase is an idiom without a concrete noun (*is told*, *as a whole*). The figures are a smoke
//! alarm, not the goal.

use std::fmt;
use std::path::Path;
use std::process::Command;

use regex::Regex;

use super::files::texts;
use crate::Result;

/// Arguments of `cargo xtask check prose`.
#[derive(Default, clap::Args)]
pub struct Arguments {
    /// Measure only files whose paths contain this text
    #[arg(default_value = "")]
    pattern: String,
    /// Measure only lines added since this git revision
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// Number of sentences to print, starting with the worst
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    worst: usize,
}

const VAGUE: &str = "what whatever that those these it its itself one ones they them their which whose there so such thing things \
                     other others none nothing anything whoever";

const OPENS: &str =
    "^(What|Whatever|That|Whether|Who|Whoever|Of|To what|In what|Where|Than|So|Such|Those|None|Nothing)\\b";

const STOCK: &str = r"(?i)\b(is told|are told|tells? (that|what|how|which|where|whether)|told\b|is said|be said|says? (so|what|which|how|where|that it)|is had|are had|beside\b|none of (its|their|these|those)|there is none|is none\b|are none\b|of its own|of their own|as a whole|goes on|go on|in turns|speaks? of|has it\b|have it\b|so many|nothing but|all but|is meant|are meant|is believed|wants? (a|the|an|to be)|comes? of|came of|stands? (in|at|for|there)|lies? (in|there|where|beside)|is looked at|are looked at|looked for|seen to|sees to|taken (back|for|away)|is asked|are asked|asked for|as it is\b|as they are\b|as it was\b|what (is|was|are|were|has|have|it|they|can|could|would) )";

const MESSAGE: &str =
    r#"(?:#\[error\(|(?:bail!|hint|usage|corrupt|unsupported)\w*\(\s*(?:&?format!\()?)"((?:[^"\\]|\\.)*)""#;

/// A kind of text with its limits: vague words and stock phrases per 1,000 words, openings per 100
/// sentences.
struct Kind {
    name: &'static str,
    vague: f64,
    opens: f64,
    stock: f64,
}

const RUSTDOC: usize = 0;
const COMMENT: usize = 1;
const MARKDOWN: usize = 2;
const MESSAGES: usize = 3;

const KINDS: [Kind; 4] = [
    Kind { name: "rustdoc", vague: 35.0, opens: 1.5, stock: 1.0 },
    Kind { name: "comment", vague: 35.0, opens: 1.5, stock: 1.0 },
    Kind { name: "markdown", vague: 40.0, opens: 1.5, stock: 1.0 },
    Kind { name: "message", vague: 35.0, opens: 1.5, stock: 1.0 },
];

/// Counts of one kind of text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    sentences: f64,
    words: f64,
    long: f64,
    vague: f64,
    opens: f64,
    stock: f64,
}

impl Counts {
    fn per_thousand_words(&self, count: f64) -> f64 {
        1000.0 * count / self.words.max(1.0)
    }

    fn percent(&self, count: f64) -> f64 {
        100.0 * count / self.sentences.max(1.0)
    }

    fn is_within(&self, kind: &Kind) -> bool {
        self.per_thousand_words(self.vague) <= kind.vague
            && self.percent(self.opens) <= kind.opens
            && self.per_thousand_words(self.stock) <= kind.stock
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.words / self.sentences.max(1.0);
        let (vague, stock) = (self.per_thousand_words(self.vague), self.per_thousand_words(self.stock));
        let (long, opens) = (self.percent(self.long), self.percent(self.opens));
        write!(f, "{:8} {mean:6.1} {long:5.1}% {vague:7.1} {opens:7.1} {stock:7.1}", self.words)
    }
}

/// A sentence with its score and path.
struct Worst(f64, String, String);

/// Regular expressions for sentences.
struct Patterns {
    opens: Regex,
    stock: Regex,
    word: Regex,
    code: Regex,
    link: Regex,
    message: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            opens: Regex::new(OPENS)?,
            stock: Regex::new(STOCK)?,
            word: Regex::new("[A-Za-z][A-Za-z'-]*")?,
            code: Regex::new("`[^`]*`")?,
            link: Regex::new(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?")?,
            message: Regex::new(MESSAGE)?,
        })
    }

    /// Returns the paragraphs of a file, with their kinds.
    fn blocks(&self, path: &str, text: &str) -> Vec<(usize, String)> {
        match path.ends_with(".rs") {
            true => self.rust_blocks(text),
            false => markdown_blocks(text),
        }
    }

    fn rust_blocks(&self, text: &str) -> Vec<(usize, String)> {
        let mut blocks = Blocks::default();
        let mut fenced = false;
        for line in text.lines() {
            let trimmed = line.trim_start();
            let doc = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
            let doc = doc.filter(|rest| !rest.starts_with('/'));
            let comment = trimmed.strip_prefix("//").filter(|rest| !rest.starts_with(['/', '!']));
            let (kind, body) = match (doc, comment) {
                (Some(body), _) => (RUSTDOC, body.trim()),
                (None, Some(body)) => (COMMENT, body.trim()),
                (None, None) => {
                    fenced = false;
                    blocks.end();
                    let messages = self.message.captures_iter(line);
                    blocks.done.extend(messages.map(|found| (MESSAGES, found[1].to_owned())));
                    continue;
                }
            };
            if body.starts_with("```") {
                fenced = !fenced;
                blocks.end();
            } else if !fenced {
                let is_item = body.starts_with("- ") || body.starts_with("* ");
                if blocks.kind != kind || body.is_empty() || body.starts_with(['#', '|']) || is_item {
                    blocks.end();
                }
                blocks.kind = kind;
                if !body.starts_with(['#', '|']) {
                    blocks.add(body.trim_start_matches(['-', '*', ' ']));
                }
            }
        }
        blocks.end();
        blocks.done
    }

    /// Counts the sentences of a paragraph, and calls `each` with each score and sentence.
    fn count(&self, block: &str, counts: &mut Counts, mut each: impl FnMut(f64, &str)) {
        let plain = self.link.replace_all(block, "$1");
        let plain = self.code.replace_all(&plain, "X");
        for sentence in sentences(&plain) {
            let words: Vec<&str> = self.word.find_iter(sentence).map(|word| word.as_str()).collect();
            if words.len() < 4 {
                continue;
            }
            let is_vague = |word: &&&str| VAGUE.split(' ').any(|vague| vague.eq_ignore_ascii_case(word));
            let vague = words.iter().filter(is_vague).count() as f64;
            let opens = self.opens.find(sentence).is_some_and(|opening| {
                let rest = &sentence[opening.end()..];
                !rest.starts_with(" if ") && !rest.starts_with(" about ")
            });
            let opens = f64::from(u8::from(opens));
            let stock = self.stock.find_iter(sentence).count() as f64;
            let length = words.len() as f64;
            counts.sentences += 1.0;
            counts.words += length;
            counts.long += f64::from(u8::from(words.len() > 30));
            counts.vague += vague;
            counts.opens += opens;
            counts.stock += stock;
            each(2.0 * (stock + opens) + (vague - 2.0).max(0.0) + ((length - 28.0) / 6.0).max(0.0), sentence);
        }
    }
}

/// Paragraphs of a file, the last of which is incomplete.
#[derive(Default)]
struct Blocks {
    kind: usize,
    lines: Vec<String>,
    done: Vec<(usize, String)>,
}

impl Blocks {
    fn add(&mut self, line: &str) {
        if !line.is_empty() {
            self.lines.push(line.to_owned());
        }
    }

    fn end(&mut self) {
        if !self.lines.is_empty() {
            self.done.push((self.kind, std::mem::take(&mut self.lines).join(" ")));
        }
    }
}

fn markdown_blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks = Blocks { kind: MARKDOWN, ..Blocks::default() };
    let mut fenced = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
            blocks.end();
        } else if !fenced {
            let number =
                line.find(". ").filter(|end| line[..*end].bytes().all(|byte| byte.is_ascii_digit()) && *end > 0);
            let item =
                line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(number.map(|end| &line[end + 2..]));
            if let Some(item) = item {
                blocks.end();
                blocks.add(item);
            } else if line.is_empty() || line.starts_with(['#', '|', '<']) {
                blocks.end();
            } else {
                blocks.add(line);
            }
        }
    }
    blocks.end();
    blocks.done
}

/// Splits a paragraph into sentences. A sentence ends with a punctuation mark, white space, and the
/// start of the next sentence.
fn sentences(block: &str) -> impl Iterator<Item = &str> {
    let mut ends = Vec::new();
    let mut after_mark = false;
    for (at, letter) in block.char_indices() {
        if letter.is_whitespace() {
            continue;
        }
        let is_spaced = block[..at].ends_with(char::is_whitespace);
        if after_mark && is_spaced && (letter.is_ascii_uppercase() || "`\"'(".contains(letter)) {
            ends.push(at);
        }
        after_mark = ".!?:;".contains(letter);
    }
    ends.push(block.len());
    let mut start = 0;
    ends.into_iter().map(move |end| block[std::mem::replace(&mut start, end)..end].trim())
}

/// Measures the prose. Fails above the limits, unless `since` is given.
pub fn run(repository: &Path, arguments: &Arguments) -> Result {
    let patterns = Patterns::new()?;
    let files = match &arguments.since {
        Some(revision) => added(repository, revision)?,
        None => texts(repository)?,
    };
    let mut counts = [Counts::default(); KINDS.len()];
    let mut worst = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.contains(&arguments.pattern)) {
        for (kind, block) in patterns.blocks(path, text) {
            patterns.count(&block, &mut counts[kind], |score, sentence| {
                if score > 4.0 {
                    worst.push(Worst(score, path.clone(), sentence.to_owned()));
                }
            });
        }
    }
    println!("{:10} {:>8} {:>6} {:>6} {:>7} {:>7} {:>7}", "kind", "words", "mean", ">30", "vague", "opens", "stock");
    KINDS.iter().zip(&counts).for_each(|(kind, counts)| println!("{:10} {counts}", kind.name));
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for Worst(score, path, sentence) in worst.iter().take(arguments.worst) {
        println!("{score:4.1} {path}: {sentence}");
    }
    let above: Vec<&str> =
        KINDS.iter().zip(&counts).filter(|(kind, counts)| !counts.is_within(kind)).map(|(kind, _)| kind.name).collect();
    match above.is_empty() {
        true => Ok(()),
        false => {
            Err(format!("{}: above the limits of vague words, openings or stock phrases", above.join(", ")).into())
        }
    }
}

/// Returns the lines of Rust and Markdown files that were added since a revision, by path.
fn added(repository: &Path, revision: &str) -> Result<Vec<(String, String)>> {
    let mut git = Command::new("git");
    git.current_dir(repository).args(["diff", "--unified=0", "--no-color", revision, "--", "*.rs", "*.md"]);
    let diff = git.output()?;
    if !diff.status.success() {
        return Err(format!("git diff: {}", String::from_utf8_lossy(&diff.stderr)).into());
    }
    let mut files: Vec<(String, String)> = Vec::new();
    for line in String::from_utf8_lossy(&diff.stdout).lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            files.push((path.to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            match line.strip_prefix('+') {
                Some(added) => text.extend([added, "\n"]),
                // Paragraphs end at the end of a hunk.
                None if line.starts_with("@@") => text.push('\n'),
                None => {}
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(path: &str, text: &str) -> [Counts; 4] {
        let patterns = Patterns::new().unwrap();
        let mut counts = [Counts::default(); 4];
        for (kind, block) in patterns.blocks(path, text) {
            patterns.count(&block, &mut counts[kind], |_, _| {});
        }
        counts
    }

    #[test]
    fn vague_words_openings_and_stock_phrases_are_counted() {
        let text = "/// What is left of it is told there.\n/// Reads the footer of a fragment.\n// The reason is the one below.\nlet x = 1;\n\
                    #[error(\"the tile has that many cells\")]\n";
        let [rustdoc, comment, _, message] = measured("a.rs", text);
        let expected = Counts { sentences: 2.0, words: 14.0, long: 0.0, vague: 3.0, opens: 1.0, stock: 2.0 };
        assert_eq!(rustdoc, expected);
        assert_eq!((comment.words, comment.vague), (6.0, 1.0));
        assert_eq!((message.words, message.vague), (6.0, 1.0));
    }

    #[test]
    fn code_tables_and_headings_are_no_prose() {
        let text = "# What it is\n\n| what | that |\n\n```text\nwhat is that there\n```\n\nRead [what it is](what.md) and `what` again. \
                    Write the next sentence.\n1. Open the array first.\n";
        let markdown = measured("a.md", text)[MARKDOWN];
        assert_eq!((markdown.sentences, markdown.words, markdown.vague), (3.0, 15.0, 2.0));
    }
}
