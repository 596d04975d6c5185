//! Serialization of plans with array scans, for schedulers and executors.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use tdb_datafusion::{Opener, functions};

use crate::arrays::Arrays;
use crate::parts::ScanPartsExec;
use crate::wire::{self, Header};

/// Marks functions that belong to tdb-datafusion, but may have the same name as in DataFusion.
const OWN_FUNCTION: &[u8] = b"tdb";

/// Codec for array scans and the functions of sessions, on top of Ballista's codec.
#[derive(Debug)]
pub struct PhysicalCodec {
    inner: Arc<dyn PhysicalExtensionCodec>,
    arrays: Option<Arc<Arrays>>,
}

impl PhysicalCodec {
    /// Creates the codec of clients and schedulers, which open no arrays.
    #[must_use]
    pub fn of_plans() -> Self {
        Self { inner: Arc::new(BallistaPhysicalExtensionCodec::default()), arrays: None }
    }

    /// Creates the codec of executors. The opener opens arrays, and has the encryption keys.
    #[must_use]
    pub fn of_executors(opener: Opener) -> Self {
        Self { arrays: Some(Arc::new(Arrays::new(opener))), ..Self::of_plans() }
    }

    /// Replaces Ballista's codec by another one, for custom nodes and functions.
    #[must_use]
    pub fn with_inner(self, inner: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { inner, ..self }
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !wire::is_scan(bytes) {
            return self.inner.try_decode(bytes, inputs, context, converter);
        }
        let header = Header::from_bytes(bytes)?;
        match inputs {
            [input] => Ok(ScanPartsExec::new(header, input.clone(), self.arrays.clone())?),
            _ => Err(DataFusionError::Execution(format!("expected one input of a scan, found {}", inputs.len()))),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match node.downcast_ref::<ScanPartsExec>() {
            Some(scan) => bytes.extend(scan.header().to_bytes()?),
            None => self.inner.try_encode(node, bytes, converter)?,
        }
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        match functions::scalar_function(name).filter(|_| bytes == OWN_FUNCTION) {
            Some(function) => Ok(function),
            None => self.inner.try_decode_udf(name, bytes),
        }
    }

    fn try_encode_udf(&self, node: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        if functions::is_own_scalar(node) {
            bytes.extend(OWN_FUNCTION);
            return Ok(());
        }
        self.inner.try_encode_udf(node, bytes)
    }

    fn try_decode_higher_order_function(&self, name: &str, bytes: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.inner.try_decode_higher_order_function(name, bytes)
    }

    fn try_encode_higher_order_function(&self, node: &HigherOrderUDF, bytes: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_higher_order_function(node, bytes)
    }

    fn try_decode_expr(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        context: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.inner.try_decode_expr(bytes, inputs, context)
    }

    fn try_encode_expr(
        &self,
        node: &Arc<dyn PhysicalExpr>,
        bytes: &mut Vec<u8>,
        context: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        self.inner.try_encode_expr(node, bytes, context)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        match functions::aggregate_function(name).filter(|_| bytes == OWN_FUNCTION) {
            Some(function) => Ok(function),
            None => self.inner.try_decode_udaf(name, bytes),
        }
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        if functions::is_own_aggregate(node) {
            bytes.extend(OWN_FUNCTION);
            return Ok(());
        }
        self.inner.try_encode_udaf(node, bytes)
    }

    fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
        self.inner.try_decode_udwf(name, bytes)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, bytes: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udwf(node, bytes)
    }
}

#[cfg(test)]
mod tests;
