/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecast-gpu: keeps a GPU busy for a calibration, for a given share of the time. It is a program of its
 * own because GPU drivers leak and crash.
 */

#include <errno.h>
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "gpu-load.h"
#include "source/gpu.h"
#include "util/drop-root.h"
#include "util/options.h"
#include "util/units.h"
#include "util/util.h"

/* Work between two looks at the clock: short enough for an even share, long compared with the look. */
#define PIECE_S 0.01
#define DRAWS_MAX 65536u

static const struct log program_log = { log_to_stderr, (void *)"joulecast-gpu" };

struct load {
        double share;
        unsigned draws; /* that take about PIECE_S */
        char line[64];
        size_t length;
};

static double now_s(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

/* Busy time of this process as the kernel counts it. */
static uint64_t busy_ns(void)
{
        DIR *dir = opendir("/proc/self/fdinfo");
        const struct dirent *entry;
        uint64_t busy = 0;

        while (dir && (entry = readdir(dir))) {
                struct gpu_client client;
                char text[4096];

                if (util_read_at(dirfd(dir), entry->d_name, text, sizeof(text)) > 0 &&
                    gpu_parse_fdinfo(text, &client))
                        /* Several descriptors of a client count twice: the sum is only compared with 0. */
                        busy += client.busy_ns;
        }
        if (dir)
                closedir(dir);
        return busy;
}

/* Draws for a while. Returns how long it took; negative: the GPU was reset. */
static double draw_piece(struct load *load)
{
        double began = now_s(), took;

        gpu_draw(load->draws);
        if (gpu_draw_finish() < 0)
                return -1;
        took = now_s() - began;
        if (took < PIECE_S / 2)
                load->draws = MIN(load->draws * 2, DRAWS_MAX);
        else if (took > PIECE_S * 2)
                load->draws = MAX(load->draws / 2, 1u);
        return took;
}

static void answer(struct load *load)
{
        double share;

        if (strncmp(load->line, "load ", 5) == 0 && util_parse_double(load->line + 5, &share) == 0 &&
            share >= 0 && share <= 1) {
                load->share = share;
                puts(load->line);
        } else {
                puts("failed Invalid argument");
        }
        fflush(stdout);
}

/* False: end of input. */
static bool hear(struct load *load)
{
        ssize_t n = read(STDIN_FILENO, load->line + load->length, sizeof(load->line) - 1 - load->length);
        char *end;

        if (n <= 0)
                return n < 0 && errno == EINTR;
        load->length += (size_t)n;
        load->line[load->length] = '\0';
        while ((end = strchr(load->line, '\n'))) {
                *end = '\0';
                answer(load);
                load->length -= (size_t)(end + 1 - load->line);
                memmove(load->line, end + 1, load->length + 1);
        }
        return load->length < sizeof(load->line) - 1; /* no valid line is so long */
}

/* Works, then rests according to the share; reads its input while resting. */
static int serve(struct load *load)
{
        struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

        for (;;) {
                double took = load->share > 0 ? draw_piece(load) : 0;
                double rest = load->share > 0 ? took * (1 - load->share) / load->share : INFINITY;
                struct timespec pause = { 0 };
                int n;

                if (took < 0)
                        return -EIO;
                if (isfinite(rest))
                        pause = (struct timespec){ (time_t)fmin(rest, 60), (long)(fmod(rest, 1) * NS_PER_S) };
                n = ppoll(&input, 1, isfinite(rest) ? &pause : NULL, NULL);
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0 && !hear(load))
                        return 0;
        }
}

static int run(bool software)
{
        struct load load = { .draws = 1 };
        char renderer[128];
        struct gpu *gpu;
        int err = gpu_device_open(software, &gpu);

        if (err) {
                log_error(&program_log, "this machine has no GPU that OpenGL ES can be drawn on");
                return err;
        }
        gpu_renderer(renderer, sizeof(renderer));
        err = gpu_draw_open();
        for (unsigned i = 0; !err && i < 8; i++) /* some drivers count a little later */
                err = draw_piece(&load) < 0 ? -EIO : 0;
        if (!err) {
                printf("gpu %s %s\n", busy_ns() > 0 ? "counted" : "uncounted", renderer);
                fflush(stdout);
                err = serve(&load);
        }
        if (err)
                log_error(&program_log, "%s: %s", renderer, strerror(-err));
        gpu_device_close(gpu);
        return err;
}

/* A driver is much code of others: as nobody, in the groups of the render nodes. */
static int give_up_root(void)
{
        gid_t groups[16];
        size_t n = 0;
        DIR *dir = opendir("/dev/dri");
        const struct dirent *entry;
        int err;

        while (dir && n < ARRAY_SIZE(groups) && (entry = readdir(dir))) {
                struct stat info;

                if (strncmp(entry->d_name, "renderD", 7) == 0 && fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
                    info.st_gid != 0)
                        groups[n++] = info.st_gid;
        }
        if (dir)
                closedir(dir);
        err = drop_root(groups, n);
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else its own /proc/self/fdinfo is root's */
        return err;
}

int main(int argc, char **argv)
{
        bool software = false;
        const struct option_row rows[] = {
                { "software", .flag = &software,
                  .help = "take a renderer that computes on the CPU, for tests; without, those do not count as a GPU" },
        };
        const struct option_table table = {
                .program = "joulecast-gpu",
                .called = "joulecast-gpu",
                .usage = "joulecast-gpu [--software]",
                .about = "Keeps the GPU of this machine busy for joulecast-calibrate, which starts it and\n"
                         "talks to it over a pipe. It draws off-screen, on a render node.",
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .after = "Its first line is \"gpu counted\" or \"gpu uncounted\" (whether the kernel counts\n"
                         "its busy time, in /proc/PID/fdinfo) and the renderer's name. Then, a line each:\n"
                         "\n"
                         "  load SHARE   busy for this share of the time, 0 to 1\n"
                         "\n"
                         "answered by the same. The end of the input ends it.",
                .exits = "0 the input ended; 1 there is no GPU, or it failed; 2 wrong usage",
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        code = give_up_root();
        if (code < 0) {
                log_error(&program_log, "cannot give up root: %s", strerror(-code));
                return 1;
        }
        return run(software) ? 1 : 0;
}
