/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "util/util.h"
#include "weight.h"

/*
 * A folder of joulecast record that another user wrote: its files, separated by lines %%, as energy and with all
 * weights of --weight.
 */

static const char *const names[] = { "run.json", "runs/1.folded", "runs/1.components.tsv", "calls.tsv" };
static char folder[64];
static int folder_fd = -1;

static void remove_folder(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unlinkat(folder_fd, names[i], 0);
        unlinkat(folder_fd, "runs", AT_REMOVEDIR);
        rmdir(folder);
}

static void make_folder(void)
{
        fuzz_assert(mkdtemp((char *)fuzz_place(folder, "run-folder")));
        folder_fd = open(folder, O_DIRECTORY | O_CLOEXEC);
        fuzz_assert(folder_fd >= 0 && mkdirat(folder_fd, "runs", 0700) == 0);
        atexit(remove_folder);
}

static void write_files(const char *data, size_t size)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                const char *end = memmem(data, size, "%%\n", 3);
                size_t length = end ? (size_t)(end - data) : size;
                _cleanup_close_ int fd = -1;

                unlinkat(folder_fd, names[i], 0);
                if (length == 0 && !end)
                        continue;
                fd = openat(folder_fd, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                fuzz_assert(fd >= 0 && write(fd, data, length) == (ssize_t)length);
                length += end ? 3 : 0;
                data += length;
                size -= length;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (folder_fd < 0)
                make_folder();
        write_files((const char *)data, size);
        for (enum weight weight = WEIGHT_ENERGY; weight <= WEIGHT_CALLS; weight++) {
                _cleanup_(side_clear) struct side side = { 0 };

                if (side_read(folder, "", NULL, &side) < 0 || weight_take(folder, weight, NULL, &side) < 0)
                        continue;
                fuzz_assert(side.unit && side.stacks.n_runs >= 1);
                for (size_t i = 0; i < side.stacks.n_runs; i++)
                        fuzz_assert(side.stacks.runs[i].sum > 0 && stacks_total(&side.stacks.runs[i]) <= 0x1p53);
                fuzz_assert(side.sample > 0 && !isinf(side.sample));
        }
        return 0;
}
