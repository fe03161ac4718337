/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Reports the control group of a process that ended. If a process lived only between two polls, its /proc
 * entry is gone, and the group of a unit that ran for a second is gone as well. So the program reports the
 * path itself, once per group.
 */

/* Ids of reported groups. User space clears them together with its list of paths. */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, CGROUPS_TOLD);
        __type(key, __u64);
        __type(value, __u8);
} told_cgroups SEC(".maps");

/*
 * Scratch memory, since most paths are much shorter than the largest record. A program does not interrupt
 * itself on a CPU.
 */
struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct cgroup_record);
} cgroup_scratch SEC(".maps");

static __always_inline struct kernfs_node *parent_of(struct kernfs_node *node)
{
        if (bpf_core_field_exists(node->parent))
                return node->parent;
        return ((struct kernfs_node___rcu *)node)->__parent;
}

/* The root group has no name. */
static __always_inline __u32 copy_names(struct kernfs_node *node, char *names)
{
        __u32 length = 0;

        for (int i = 0; i < CGROUP_DEPTH_MAX; i++) {
                struct kernfs_node *parent = parent_of(node);
                long n;

                if (!parent)
                        return length;
                if (length >= CGROUP_NAMES)
                        return 0;
                n = bpf_probe_read_kernel_str(names + WITHIN(length, CGROUP_NAMES), CGROUP_NAME_MAX,
                                              node->name);
                if (n <= 0)
                        return 0;
                length += n;
                node = parent;
        }
        return 0;
}

/* A group is marked as reported once its record is in the ring, so records that refer to it come after it. */
static __always_inline __u64 tell_cgroup(struct task_struct *task, struct user_ends *user)
{
        struct cgroup_record *record;
        struct kernfs_node *node;
        __u32 zero = 0, length;
        __u64 id, size;
        __u8 told = 1;

        if (!bpf_core_field_exists(task->cgroups))
                return 0;
        node = read_only(task)->cgroups->dfl_cgrp->kn;
        id = node->id;
        if (bpf_map_lookup_elem(&told_cgroups, &id))
                return id;
        record = bpf_map_lookup_elem(&cgroup_scratch, &zero);
        if (!record)
                return 0;
        length = copy_names(node, record->names);
        if (length > CGROUP_NAMES)
                length = 0;
        record->kind = RECORD_CGROUP;
        record->id = id;
        record->length = length;
        size = sizeof(*record) - sizeof(record->names) + length;
        if (take_share(user, size, is_new(task)) && bpf_ringbuf_output(&exits, record, size, BPF_RB_NO_WAKEUP) == 0)
                bpf_map_update_elem(&told_cgroups, &id, &told, 0);
        return id;
}
