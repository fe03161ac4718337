/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The device files of GPUs, and whether the counting of their drivers is on. */

#include "gpu-private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/util.h"
#include "util/words.h"

/*
 * Documentation/gpu/panfrost.rst and panthor.rst: `profiling` of the device is off after a boot, as times cost power.
 * The bits that a driver needs for times, and the value that turns on everything it has.
 */
static const struct profiling {
        const char *driver;
        uint64_t times;
        const char *value;
} profilings[] = {
        { "panthor", 2, "3" },
        { "panfrost", 1, "1" },
};

bool gpu_node_is_gpu(int dir_fd, const char *name, char *node, size_t size)
{
        /* A number follows: /dev/nvidiactl and the like draw nothing. */
        static const char *const paths[] = { "/dev/dri/renderD", "/dev/dri/card", "/dev/nvidia" };
        char target[64];
        ssize_t length = readlinkat(dir_fd, name, target, sizeof(target) - 1);

        target[MAX(length, 0)] = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                if (strncmp(target, paths[i], strlen(paths[i])) == 0 &&
                    isdigit((unsigned char)target[strlen(paths[i])])) {
                        snprintf(node, size, "%s", strrchr(target, '/') + 1);
                        return true;
                }
        return false;
}

/* A card whose device has no render node only shows pictures (msm_dpu, the simple framebuffers). */
bool gpu_node_draws(const struct gpu_source *self, const char *node)
{
        char path[64];

        snprintf(path, sizeof(path), "%s/device/drm", node);
        return strncmp(node, "card", 4) != 0 || (self->drm_fd >= 0 && util_has_entry(self->drm_fd, path, "renderD"));
}

static const struct profiling *profiling_of(const struct gpu_source *self, const char *node)
{
        char path[64], target[256];
        ssize_t length;

        snprintf(path, sizeof(path), "%s/device/driver", node);
        length = self->drm_fd < 0 ? 0 : readlinkat(self->drm_fd, path, target, sizeof(target) - 1);
        target[MAX(length, 0)] = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(profilings); i++) {
                const char *slash = strrchr(target, '/');

                if (strcmp(slash ? slash + 1 : target, profilings[i].driver) == 0)
                        return &profilings[i];
        }
        return &profilings[ARRAY_SIZE(profilings) - 1];
}

const char *gpu_node_turns_on(const struct gpu_source *self, const char *node)
{
        return profiling_of(self, node)->value;
}

static bool read_off(const struct gpu_source *self, const char *node)
{
        char path[64], text[32];
        uint64_t value;

        snprintf(path, sizeof(path), "%s/device/profiling", node);
        return self->drm_fd >= 0 && util_read_at(self->drm_fd, path, text, sizeof(text)) > 0 &&
               util_parse_u64(text, &value) == 0 && !(value & profiling_of(self, node)->times);
}

bool gpu_node_is_off(struct gpu_source *self, const char *node)
{
        bool off;

        for (size_t i = 0; i < self->n_nodes; i++)
                if (strcmp(self->nodes[i].name, node) == 0)
                        return self->nodes[i].off;
        off = read_off(self, node);
        if (self->n_nodes < ARRAY_SIZE(self->nodes)) {
                snprintf(self->nodes[self->n_nodes].name, sizeof(self->nodes[0].name), "%s", node);
                self->nodes[self->n_nodes++].off = off;
        }
        return off;
}
