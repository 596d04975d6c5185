//! Sessions in this process.

use datafusion::prelude::SessionContext;
use tdb_cli::{Context, Failure, Result};
use tdb_datafusion::{Opener, SessionOptions, TableOptions, TdbCatalog, session};

use crate::command::Settings;
use crate::error::of_session;

/// Creates an opener for the URIs of the command, with the encryption key from the command line.
///
/// # Errors
/// The key is invalid.
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

/// Converts settings to session options. Applies to local and cluster sessions.
///
/// # Errors
/// DataFusion does not know an option.
pub fn session_options(settings: &Settings, opener: Opener) -> Result<SessionOptions> {
    let mut options = SessionOptions::new(opener).table(tables(settings)).partitions(settings.threads);
    let own = [
        ("datafusion.catalog.information_schema", "true"),
        // Enables positions in error messages.
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

/// Registers the groups as catalogs of a session.
///
/// # Errors
/// A group cannot be opened.
pub fn add_groups(session: &SessionContext, settings: &Settings, opener: &Opener) -> Result<()> {
    for (name, uri) in &settings.groups {
        let catalog = tokio::runtime::Handle::current().block_on(TdbCatalog::group(uri, opener, tables(settings)));
        session.register_catalog(name, catalog.map_err(|error| of_session(&error))?);
    }
    Ok(())
}

/// Creates a session that runs queries in this process.
///
/// # Errors
/// A setting is invalid, or a group cannot be opened.
pub fn local_session(settings: &Settings, context: &Context) -> Result<SessionContext> {
    let opener = opener(context)?;
    let session = session(session_options(settings, opener.clone())?).map_err(|error| of_session(&error))?;
    add_groups(&session, settings, &opener)?;
    Ok(session)
}
