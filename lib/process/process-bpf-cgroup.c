/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Control groups of ended processes, by the kernel's number. Each is reported once, before the first process
 * that refers to it, since the group may be gone when we read (bpf/cgroup.bpf.h).
 */

#include "process-bpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "util/util.h"
#include "process.skel.h"

#define CGROUPS_KEPT 256 /* when there are more, all are forgotten, and those in use are reported again */

/*
 * Names are stored from the innermost group outwards, so the path is written from its end. A record ends with
 * its names, at @size.
 */
static char *make_path(const struct cgroup_record *record, size_t size)
{
        size_t length = MIN((size_t)record->length, size - offsetof(struct cgroup_record, names)), left = length;
        char *path = malloc(length + 2);

        if (!path)
                return NULL;
        strcpy(path, "/");
        path[length] = '\0';
        for (const char *name = record->names; left > 0;) {
                size_t n = strnlen(name, left - 1);

                left -= n + 1;
                path[left] = '/';
                memcpy(path + left + 1, name, n);
                name += n + 1;
        }
        return path;
}

int process_bpf_take_cgroup(struct process_collector *collector, const struct cgroup_record *record, size_t size)
{
        int err = util_grow(&collector->cgroups, &collector->cgroups_capacity, collector->n_cgroups + 1,
                            sizeof(*collector->cgroups));
        char *path = err ? NULL : make_path(record, size);

        if (!path)
                return -ENOMEM;
        collector->cgroups[collector->n_cgroups++] = (struct bpf_cgroup){record->id, path};
        return 0;
}

const char *process_bpf_cgroup(const struct process_collector *collector, uint64_t id)
{
        for (size_t i = collector->n_cgroups; id && i > 0; i--)
                if (collector->cgroups[i - 1].id == id)
                        return collector->cgroups[i - 1].path;
        return NULL;
}

void process_bpf_forget_cgroups(struct process_collector *collector)
{
        if (collector->n_cgroups <= CGROUPS_KEPT)
                return;
        for (size_t i = 0; i < collector->n_cgroups; i++)
                bpf_map_delete_elem(bpf_map__fd(collector->bpf->maps.told_cgroups),
                                    &collector->cgroups[i].id);
        process_bpf_free_cgroups(collector);
}

void process_bpf_free_cgroups(struct process_collector *collector)
{
        for (size_t i = 0; i < collector->n_cgroups; i++)
                free(collector->cgroups[i].path);
        free(collector->cgroups);
        collector->cgroups = NULL;
        collector->n_cgroups = collector->cgroups_capacity = 0;
}
