//! Schemas of the new array.

use tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, Enumeration, SchemaBuilder};
use tdb_filters::{Filter, FilterPipeline};
use tdb_types::{DataOrder, Feature, FormatVersion, Layout, Scalar};

use crate::obstacle;
use tdb_job::Obstacle;

/// Names of the filter lists that several fields share.
const SHARED: [&str; 3] = ["__coords", "__offsets", "__validity"];
/// Name of an unnamed attribute in formats 1 to 4.
const ANONYMOUS: &str = "__attr";

/// Requested changes to the schemas.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) version: Option<FormatVersion>,
    pub(super) tile_extents: Vec<(String, Scalar)>,
    pub(super) capacity: Option<u64>,
    pub(super) cell_order: Option<Layout>,
    pub(super) tile_order: Option<Layout>,
    pub(super) filters: Vec<(String, FilterPipeline)>,
}

impl Change {
    /// Returns the new definition, or all obstacles.
    pub(super) fn apply(&self, old: &ArrayDefinition) -> Result<ArrayDefinition, Vec<Obstacle>> {
        let schema = old.schema();
        let version = self.version.unwrap_or(schema.version());
        let mut against = obstacle::of_schema(&self.with_filters(schema, version), version);
        against.extend(self.unknown_fields(schema));
        if !against.is_empty() {
            return Err(against);
        }
        let other = |error: tdb_array::tdb_schema::SchemaError| vec![Obstacle::Schema(error.to_string())];
        let built = self.builder(schema, version).build().map_err(other)?;
        let mut definition = ArrayDefinition::new(built).map_err(other)?;
        for enumeration in old.enumerations() {
            definition = definition.with_enumeration(Enumeration::clone(enumeration)).map_err(other)?;
        }
        for (label, array) in old.labels() {
            let extent = array.dimensions().first().and_then(Dimension::tile_extent);
            let values = array.attributes().iter().find(|attribute| attribute.name() == label.attribute);
            let filters = values.map(Attribute::filters).cloned().unwrap_or_default();
            definition = definition.with_label(&label.name, extent, filters).map_err(other)?;
        }
        definition.check().map_err(other)?;
        Ok(definition)
    }

    /// Returns the old schema with the new filters, so that replaced filters do not count as
    /// obstacles.
    fn with_filters(&self, schema: &ArraySchema, version: FormatVersion) -> ArraySchema {
        let own = self.filters_of(schema, version);
        let mut builder = SchemaBuilder::from(schema.clone());
        if let Some(filters) = own.coords.clone() {
            builder = builder.coords_filters(filters);
        }
        let replaced = self.filters.iter().any(|(name, _)| schema.field(name).is_some() || SHARED.contains(&&**name));
        match replaced {
            // `apply` reports the error when it builds the new schema.
            true => self.builder(schema, schema.version()).build().unwrap_or_else(|_| schema.clone()),
            false => builder.build().unwrap_or_else(|_| schema.clone()),
        }
    }

    fn unknown_fields(&self, schema: &ArraySchema) -> Vec<Obstacle> {
        let is_dimension = |name: &str| schema.dimensions().iter().any(|dimension| dimension.name() == name);
        let extents = self.tile_extents.iter().filter(|(name, _)| !is_dimension(name));
        let extents = extents.map(|(name, _)| Obstacle::NoSuchField { what: "dimension", name: name.clone() });
        let filters =
            self.filters.iter().filter(|(name, _)| schema.field(name).is_none() && !SHARED.contains(&&**name));
        let filters = filters.map(|(name, _)| Obstacle::NoSuchField { what: "field", name: name.clone() });
        extents.chain(filters).collect()
    }

    fn builder(&self, schema: &ArraySchema, version: FormatVersion) -> SchemaBuilder {
        let own = self.filters_of(schema, version);
        let builder = if schema.is_dense() { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
        let mut builder = builder
            .version(version)
            .allows_duplicates(schema.allows_duplicates())
            .tile_order(self.tile_order.unwrap_or(schema.tile_order()))
            .cell_order(self.cell_order.unwrap_or(schema.cell_order()))
            .capacity(self.capacity.unwrap_or(schema.capacity()))
            .coords_filters(own.coords.unwrap_or_else(|| schema.coords_filters().clone()))
            .offsets_filters(self.named("__offsets").unwrap_or(schema.offsets_filters()).clone());
        let validity = Some(schema.validity_filters()).filter(|_| schema.version().has(Feature::Validity));
        if let Some(filters) = self.named("__validity").or(validity).filter(|_| version.has(Feature::Validity)) {
            builder = builder.validity_filters(filters.clone());
        }
        for (dimension, filters) in schema.dimensions().iter().zip(own.dimensions) {
            let extent = self.tile_extents.iter().find(|(name, _)| name == dimension.name()).map(|(_, extent)| *extent);
            let mut dimension = dimension.clone().with_filters(filters);
            if let Some(extent) = extent {
                dimension = dimension.with_tile(extent);
            }
            builder = builder.dimension(dimension);
        }
        for attribute in schema.attributes() {
            builder = builder.attribute(self.attribute(attribute, (schema.version(), version)));
        }
        for label in schema.labels() {
            builder = builder.label(label.clone());
        }
        for enumeration in schema.enumerations() {
            builder = builder.enumeration(enumeration.clone());
        }
        match schema.current_domain() {
            Some(domain) => builder.current_domain(domain.clone()),
            None => builder,
        }
    }

    fn attribute(&self, old: &Attribute, (from, to): (FormatVersion, FormatVersion)) -> Attribute {
        let mut filters = self.named(old.name()).unwrap_or(old.filters()).clone();
        if !self.tile_extents.is_empty() {
            // WebP images have the size of a tile. The builder replaces zeros by the new extents.
            for filter in &mut filters.filters {
                if let Filter::WebP(options) = filter {
                    (options.y_extent, options.x_extent) = (0, 0);
                }
            }
        }
        let is_anonymous = old.name() == ANONYMOUS && from.has(Feature::NamedAttributes);
        if !is_anonymous || to.has(Feature::NamedAttributes) {
            return old.clone().with_filters(filters);
        }
        let mut new = Attribute::new("", old.datatype()).with_cell_val_num(old.cell_val_num()).with_filters(filters);
        if old.is_nullable() {
            new = new.nullable(old.fill_valid());
        }
        if old.order() != DataOrder::Unordered {
            new = new.with_order(old.order());
        }
        new
    }

    fn named(&self, name: &str) -> Option<&FilterPipeline> {
        self.filters.iter().find(|(named, _)| named == name).map(|(_, filters)| filters)
    }

    /// Returns the filters of coordinates. Formats 1 to 4 have a common pipeline for all
    /// dimensions. If the dimensions' filters are equal, they become the common pipeline.
    fn filters_of(&self, schema: &ArraySchema, version: FormatVersion) -> Coordinates {
        let coords = self.named("__coords").unwrap_or(schema.coords_filters());
        let own = |dimension: &Dimension| self.named(dimension.name()).unwrap_or(dimension.own_filters()).clone();
        let dimensions: Vec<FilterPipeline> = schema.dimensions().iter().map(own).collect();
        let effective = |own: &FilterPipeline| if own.filters.is_empty() { coords.clone() } else { own.clone() };
        let mut all = dimensions.iter().map(effective);
        if let (true, Some(first)) = (version.has(Feature::CombinedCoordinates), all.next())
            && all.all(|other| other.filters == first.filters)
        {
            let dimensions = dimensions.iter().map(|_| FilterPipeline::default()).collect();
            return Coordinates { coords: Some(first), dimensions };
        }
        Coordinates { coords: Some(coords.clone()), dimensions }
    }
}

/// The common filters of coordinates, and the filters of each dimension.
struct Coordinates {
    coords: Option<FilterPipeline>,
    dimensions: Vec<FilterPipeline>,
}
