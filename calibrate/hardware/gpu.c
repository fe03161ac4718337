/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The GPU as a part: joulecast-gpu keeps it busy for a share of the time. Its busy time comes from the
 * samples (fdinfo). A GPU whose driver does not count is not measured, because its energy would be attributed
 * to other components.
 */

#include "gpu-part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "hold/program.h"
#include "util/util.h"

#define START_MS 30000 /* the driver compiles shaders, the GPU wakes up */
#define ANSWER_MS 10000
#define RENDERER_MAX 128

struct gpu_part {
        struct part part; /* first */
        const struct log *log;
        char *const *arguments;
        struct program program;
        bool started;
        double share;
};

static struct gpu_part *gpu_of(struct part *part)
{
        return (struct gpu_part *)part;
}

/* -ENODEV: there is no GPU, or its driver does not count busy time. */
static int start(struct gpu_part *gpu)
{
        char line[RENDERER_MAX + 32], kind[16] = "", renderer[RENDERER_MAX] = "";
        int err = program_start(gpu->arguments, &gpu->program);

        if (err)
                return err;
        gpu->started = true;
        if (program_hear(&gpu->program, START_MS, line, sizeof(line)) < 0 ||
            sscanf(line, "gpu %15s %127[^\n]", kind, renderer) != 2)
                return -ENODEV;
        if (strcmp(kind, "counted") == 0)
                return 0;
        log_info(gpu->log,
                 "the GPU (%s) is not measured: its driver does not count busy time in /proc/PID/fdinfo",
                 util_printable(renderer, line, sizeof(line)));
        return -ENODEV;
}

static void stop(struct part *part)
{
        struct gpu_part *gpu = gpu_of(part);

        if (gpu->started)
                program_end(&gpu->program);
        gpu->started = false;
        gpu->share = 0;
}

static int describe(struct part *part, struct hardware_description *description)
{
        description->gpu = true;
        return 0;
}

static int prepare(struct part *part, struct settings *settings)
{
        return 0; /* changes no setting */
}

static int ask(struct gpu_part *gpu, double share)
{
        char number[32], line[64], answer[64];
        int err = gpu->started ? 0 : start(gpu);

        if (err)
                return err;
        snprintf(line, sizeof(line), "load %s", util_print_double(share, number, sizeof(number)));
        err = program_say(&gpu->program, line);
        if (!err)
                err = program_hear(&gpu->program, ANSWER_MS, answer, sizeof(answer));
        return err ? err : strcmp(answer, line) == 0 ? 0 : -EPROTO;
}

/* Ends the program when there is no load: an open context keeps some GPUs out of their deepest sleep. */
static int apply(struct part *part, const struct mode *mode)
{
        struct gpu_part *gpu = gpu_of(part);
        int err;

        if (!(mode->gpu > 0)) {
                stop(part);
                return 0;
        }
        err = ask(gpu, mode->gpu);
        if (err) {
                log_error(gpu->log, "joulecast-gpu does not load the GPU: %s", strerror(-err));
                stop(part);
                return err;
        }
        gpu->share = mode->gpu;
        return 0;
}

static int check(struct part *part)
{
        struct gpu_part *gpu = gpu_of(part);

        if (!(gpu->share > 0) || program_lives(&gpu->program))
                return 0;
        log_error(gpu->log, "joulecast-gpu ended unexpectedly; the GPU's driver may have crashed");
        return -EPIPE;
}

static void close_gpu(struct part *part)
{
        stop(part);
        free(part);
}

static const struct part_ops gpu_ops = {
        .name = "gpu",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_gpu,
};

int gpu_part_open(int root_fd, char *const arguments[], const struct machine_hardware *machine,
                  struct part **ret)
{
        struct gpu_part *gpu;
        int err;

        if (!util_has_entry(root_fd, "dev/dri", "renderD"))
                return -ENODEV;
        gpu = calloc(1, sizeof(*gpu));
        if (!gpu)
                return -ENOMEM;
        gpu->part.ops = &gpu_ops;
        gpu->log = machine->log;
        gpu->arguments = arguments;
        err = start(gpu);
        stop(&gpu->part); /* it starts again with the next load */
        if (err) {
                free(gpu);
                return err;
        }
        *ret = &gpu->part;
        return 0;
}

int hardware_gpu_open(const struct machine_hardware *machine, struct part **ret)
{
        static char *const arguments[] = { (char *)"joulecast-gpu", NULL };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : gpu_part_open(root_fd, arguments, machine, ret);
}
