/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of the files that processes execute. All are read at once, in a poll that needs at least one. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/util.h"

#define RECORDS_A_READ 64

static int compare(const void *a, const void *b)
{
        uint32_t one = ((const struct program_record *)a)->pid, other = ((const struct program_record *)b)->pid;

        return one < other ? -1 : one > other;
}

static int read_all(struct process_collector *collector)
{
        _cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(collector->programs_iterator));
        size_t capacity = 0, size = sizeof(*collector->programs);
        ssize_t length = 1;

        if (fd < 0)
                return -errno;
        while (length > 0) {
                int err = util_grow(&collector->programs, &capacity, collector->n_programs + RECORDS_A_READ, size);

                if (err)
                        return err;
                length = read(fd, &collector->programs[collector->n_programs], RECORDS_A_READ * size);
                if (length < 0)
                        return -errno;
                collector->n_programs += (size_t)length / size;
        }
        if (collector->n_programs > 1)
                qsort(collector->programs, collector->n_programs, size, compare);
        return 0;
}

bool process_bpf_find_program(void *data, pid_t pid, char *name, size_t size)
{
        struct process_collector *collector = data;
        const struct program_record wanted = { .pid = (uint32_t)pid }, *found;

        if (!collector->programs && read_all(collector) < 0)
                return false;
        found = bsearch(&wanted, collector->programs, collector->n_programs, sizeof(wanted), compare);
        if (!found || !found->name[0])
                return false;
        snprintf(name, size, "%.*s", (int)sizeof(found->name), found->name);
        return true;
}

void process_bpf_forget_programs(struct process_collector *collector)
{
        free(collector->programs);
        collector->programs = NULL;
        collector->n_programs = 0;
}
