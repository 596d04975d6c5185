//! Sessions of this process.

use datafusion::prelude::SessionContext;
use tdb_cli::{Context, Failure, Result};
use tdb_datafusion::{Opener, SessionOptions, TableOptions, TdbCatalog, session};

use crate::command::Settings;
use crate::error::of_session;

/// The arrays that the command's paths and URIs name, with the key that it was given.
///
/// # Errors
/// What was given is no key.
pub fn opener(context: &Context) -> Result<Opener> {
    let storages = *context;
    let opener = Opener::new(move |uri| storages.storage(uri));
    Ok(match context.key()? {
        Some(key) => opener.with_keys(move |_| Some(key.clone())),
        None => opener,
    })
}

fn tables(settings: &Settings) -> TableOptions {
    match settings.at {
        Some(time) => TableOptions::new().between(time),
        None => TableOptions::new(),
    }
}

/// What the settings say of sessions and of the tables in them, wherever their queries run.
///
/// # Errors
/// A setting that DataFusion doesn't know.
pub fn session_options(settings: &Settings, opener: Opener) -> Result<SessionOptions> {
    let mut options = SessionOptions::new(opener).table(tables(settings)).partitions(settings.threads);
    let own = [
        ("datafusion.catalog.information_schema", "true"),
        // Errors say where in the statement.
        ("datafusion.sql_parser.collect_spans", "true"),
    ];
    let given = settings.set.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    for (key, value) in own.into_iter().chain(given) {
        let mut set = Ok(());
        options = options.config(|mut config| {
            set = config.options_mut().set(key, value);
            config
        });
        set.map_err(|error| Failure::usage(format!("--set {key}: {}", error.strip_backtrace().trim())))?;
    }
    if let Some((name, _)) = settings.groups.first() {
        options = options.config(|config| {
            config.with_default_catalog_and_schema(name, "public").with_create_default_catalog_and_schema(false)
        });
    }
    if let Some(memory) = settings.memory {
        options = options.memory(usize::try_from(memory).unwrap_or(usize::MAX));
    }
    if let Some(folder) = &settings.temporary {
        options = options.temporary(folder);
    }
    Ok(options)
}

/// Makes the groups catalogs of a session.
///
/// # Errors
/// One of them can't be opened.
pub fn add_groups(session: &SessionContext, settings: &Settings, opener: &Opener) -> Result<()> {
    for (name, uri) in &settings.groups {
        let catalog = tokio::runtime::Handle::current().block_on(TdbCatalog::group(uri, opener, tables(settings)));
        session.register_catalog(name, catalog.map_err(|error| of_session(&error))?);
    }
    Ok(())
}

/// A session whose queries run in this process.
///
/// # Errors
/// A setting or a group can't be had.
pub fn local_session(settings: &Settings, context: &Context) -> Result<SessionContext> {
    let opener = opener(context)?;
    let session = session(session_options(settings, opener.clone())?).map_err(|error| of_session(&error))?;
    add_groups(&session, settings, &opener)?;
    Ok(session)
}
