//! Groups: members and metadata. The timestamp of changes is the setting `sm.group.timestamp_end`.

use std::ptr;

use super::array::purpose;
use super::calls::{allocate, call};
use super::context::{Context, c_string, copied};
use super::handle::Handle;
use super::metadata::{all_entries, change_entries};
use crate::Result;
use crate::model::{GroupMember, MetadataEntry, ObjectKind};

impl Context {
    pub(crate) fn create_group(&self, uri: &str) -> Result<()> {
        call!(self, tiledb_group_create(c_string(uri)?.as_ptr()))
    }

    /// Adds and removes members, and puts and deletes metadata. Members are removed by name, or by
    /// URI if they have no name.
    pub(crate) fn change_group(
        &self,
        uri: &str,
        (add, remove): (&[GroupMember], &[String]),
        (put, delete): (&[MetadataEntry], &[String]),
    ) -> Result<()> {
        let handle = self.group(uri, purpose::WRITE)?;
        let group = handle.pointer();
        for member in add {
            let uri = c_string(&member.uri)?;
            let name = member.name.as_deref().map(c_string).transpose()?;
            let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
            call!(self, tiledb_group_add_member(group, uri.as_ptr(), u8::from(member.relative), name))?;
        }
        for name in remove {
            call!(self, tiledb_group_remove_member(group, c_string(name)?.as_ptr()))?;
        }
        change_entries!(self, group, put, delete, tiledb_group_put_metadata, tiledb_group_delete_metadata);
        call!(self, tiledb_group_close(group))
    }

    pub(crate) fn consolidate_group_metadata(&self, uri: &str) -> Result<()> {
        call!(self, tiledb_group_consolidate_metadata(c_string(uri)?.as_ptr(), self.config()))
    }

    pub(crate) fn vacuum_group_metadata(&self, uri: &str) -> Result<()> {
        call!(self, tiledb_group_vacuum_metadata(c_string(uri)?.as_ptr(), self.config()))
    }

    /// Returns the members in the library's order, and the metadata.
    pub(crate) fn describe_group(&self, uri: &str) -> Result<(Vec<GroupMember>, Vec<MetadataEntry>)> {
        let group = self.group(uri, purpose::READ)?;
        let mut members = Vec::new();
        let mut count = 0;
        call!(self, tiledb_group_get_member_count(group.pointer(), &mut count))?;
        for index in 0..count {
            members.push(self.member(&group, index)?);
        }
        let pointer = group.pointer();
        let entries = all_entries!(self, pointer, tiledb_group_get_metadata_num, tiledb_group_get_metadata_from_index)?;
        call!(self, tiledb_group_close(group.pointer()))?;
        Ok((members, entries))
    }

    fn member(&self, group: &Handle, index: u64) -> Result<GroupMember> {
        if self.library().symbols.tiledb_group_get_member_by_index_v2.is_none() {
            return self.member_by_texts(group, index);
        }
        let (mut uri, mut name, mut kind) = (ptr::null_mut(), ptr::null_mut(), 0);
        call!(self, tiledb_group_get_member_by_index_v2(group.pointer(), index, &mut uri, &mut kind, &mut name))?;
        let free = self.library().symbols.tiledb_string_free;
        let uri = Handle::new(uri, free)?;
        let name = Handle::new(name, free).ok().map(|name| self.text_of(&name)).transpose()?;
        Ok(GroupMember { uri: self.text_of(&uri)?, name, kind: object_kind(kind), relative: false })
    }

    /// Reads a member as in releases before 2.18. Each call leaks two strings.
    fn member_by_texts(&self, group: &Handle, index: u64) -> Result<GroupMember> {
        let (mut uri, mut name, mut kind) = (ptr::null(), ptr::null(), 0);
        call!(self, tiledb_group_get_member_by_index(group.pointer(), index, &mut uri, &mut kind, &mut name))?;
        let uri = copied(uri).unwrap_or_default();
        Ok(GroupMember { uri, name: copied(name), kind: object_kind(kind), relative: false })
    }

    fn group(&self, uri: &str, purpose: u32) -> Result<Handle> {
        let uri = c_string(uri)?;
        let group = allocate!(self, tiledb_group_free, tiledb_group_alloc(uri.as_ptr()))?;
        call!(self, tiledb_group_open(group.pointer(), purpose))?;
        Ok(group)
    }
}

fn object_kind(code: u32) -> ObjectKind {
    match code {
        1 => ObjectKind::Group,
        2 => ObjectKind::Array,
        _ => ObjectKind::Invalid,
    }
}
