/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "display.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "model/usage.h"
#include "util/util.h"

#define CONNECTORS_MAX 16

struct connector {
        bool internal;
        int status, enabled, dpms; /* descriptors, or -1 */
};

struct display_files {
        char backlight[64];            /* the one that drives the panel; "": none */
        int brightness, actual, power; /* its files */
        uint32_t max;
        struct connector connectors[CONNECTORS_MAX];
        size_t n;
};

void display_close(struct display_files *files)
{
        if (!files)
                return;
        closep(&files->brightness);
        closep(&files->actual);
        closep(&files->power);
        for (size_t i = 0; i < files->n; i++) {
                closep(&files->connectors[i].status);
                closep(&files->connectors[i].enabled);
                closep(&files->connectors[i].dpms);
        }
        free(files);
}

static int open_in(int dir_fd, const char *name, const char *file)
{
        char path[320];

        snprintf(path, sizeof(path), "%s/%s", name, file);
        return openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Several interfaces may drive one panel. Documentation/ABI/stable/sysfs-class-backlight: firmware, platform, raw. */
static int backlight_rank(int dir_fd, const char *name)
{
        char path[320], type[32];

        snprintf(path, sizeof(path), "%s/type", name);
        if (util_read_at(dir_fd, path, type, sizeof(type)) < 0)
                return 1;
        return strncmp(type, "firmware", 8) == 0 ? 3 : strncmp(type, "platform", 8) == 0 ? 2 : 1;
}

static uint32_t read_max(int dir_fd, const char *name)
{
        char path[320], text[32];
        uint64_t max;

        snprintf(path, sizeof(path), "%s/max_brightness", name);
        if (util_read_at(dir_fd, path, text, sizeof(text)) < 0 || util_parse_u64(text, &max) < 0)
                return 0;
        return (uint32_t)MIN(max, UINT32_MAX);
}

static int open_backlight(int root_fd, struct display_files *files)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/backlight");
        const struct dirent *entry;
        int best_rank = 0;

        if (!dir)
                return errno == ENOMEM ? -ENOMEM : 0;
        while ((entry = readdir(dir))) {
                size_t length = strlen(entry->d_name);
                uint32_t max = entry->d_name[0] == '.' ? 0 : read_max(dirfd(dir), entry->d_name);
                int rank = max > 0 && length < sizeof(files->backlight) ? backlight_rank(dirfd(dir), entry->d_name) : 0;

                if (rank > best_rank || (rank && rank == best_rank && strcmp(entry->d_name, files->backlight) < 0)) {
                        best_rank = rank;
                        memcpy(files->backlight, entry->d_name, length + 1);
                        files->max = max;
                }
        }
        if (best_rank) {
                files->brightness = open_in(dirfd(dir), files->backlight, "brightness");
                files->actual = open_in(dirfd(dir), files->backlight, "actual_brightness");
                files->power = open_in(dirfd(dir), files->backlight, "bl_power");
        }
        return 0;
}

static bool is_internal(const char *name)
{
        return strstr(name, "-eDP-") || strstr(name, "-DSI-") || strstr(name, "-LVDS-") ||
               strstr(name, "-DPI-");
}

static int open_connectors(int root_fd, struct display_files *files)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/drm");
        const struct dirent *entry;

        if (!dir)
                return errno == ENOMEM ? -ENOMEM : 0;
        while ((entry = readdir(dir)) && files->n < CONNECTORS_MAX) {
                struct connector *connector = &files->connectors[files->n];

                if (strncmp(entry->d_name, "card", 4) != 0 || !strchr(entry->d_name, '-') ||
                    strstr(entry->d_name, "Writeback"))
                        continue;
                connector->internal = is_internal(entry->d_name);
                connector->status = open_in(dirfd(dir), entry->d_name, "status");
                connector->enabled = open_in(dirfd(dir), entry->d_name, "enabled");
                connector->dpms = open_in(dirfd(dir), entry->d_name, "dpms");
                files->n++;
        }
        return 0;
}

int display_open(int root_fd, struct display_files **ret)
{
        struct display_files *files = calloc(1, sizeof(*files));
        int err;

        if (!files)
                return -ENOMEM;
        files->brightness = files->actual = files->power = -1;
        err = open_backlight(root_fd, files);
        if (!err)
                err = open_connectors(root_fd, files);
        if (!err && !files->backlight[0] && files->n == 0)
                err = -ENODEV;
        if (err) {
                display_close(files);
                return err;
        }
        *ret = files;
        return 0;
}

static bool text(int fd, char *buf, size_t size)
{
        ssize_t n = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

        if (n <= 0)
                return false;
        buf[n] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return true;
}

static bool number(int fd, uint32_t *ret)
{
        char buf[32];
        uint64_t value;

        if (!text(fd, buf, sizeof(buf)) || util_parse_u64(buf, &value) < 0 || value >= BRIGHTNESS_UNKNOWN)
                return false;
        *ret = (uint32_t)value;
        return true;
}

/* 1: on; 0: off; -1: not connected, or unknown. */
static int connector_state(const struct connector *connector)
{
        char status[32], enabled[32], dpms[32];
        bool says_enabled = text(connector->enabled, enabled, sizeof(enabled));
        bool says_dpms = text(connector->dpms, dpms, sizeof(dpms));

        if (text(connector->status, status, sizeof(status)) && strcmp(status, "disconnected") == 0)
                return -1;
        if (!says_enabled && !says_dpms)
                return -1;
        return (!says_enabled || strcmp(enabled, "disabled") != 0) && (!says_dpms || strcmp(dpms, "On") == 0);
}

/* 1: on; 0: off; -1: unknown. Only the built-in panel counts if there is one: the battery powers no monitor. */
static int panel_state(const struct display_files *files)
{
        int any = -1, internal = -1;

        for (size_t i = 0; i < files->n; i++) {
                int one = connector_state(&files->connectors[i]);

                if (files->connectors[i].internal)
                        internal = MAX(internal, one);
                any = MAX(any, one);
        }
        return internal >= 0 ? internal : any;
}

int display_read(const struct display_files *files, struct display_state *ret)
{
        struct display_state state = { .max_brightness = files->max };
        /* Not actual_brightness first: with some drivers its scale differs from the one that calibration sets. */
        bool has_level = number(files->brightness, &state.brightness) || number(files->actual, &state.brightness);
        int lit = panel_state(files);
        uint32_t power;

        memcpy(state.backlight, files->backlight, sizeof(state.backlight));
        if (!has_level || state.brightness > files->max)
                state.brightness = BRIGHTNESS_UNKNOWN;
        state.screen_known = has_level || lit >= 0;
        /*
         * bl_power other than 0 (FB_BLANK_UNBLANK) means off even if the connector is on. Brightness 0 does not: many
         * panels are still lit.
         */
        state.screen_on = lit != 0 && (!number(files->power, &power) || power == 0);
        if (!state.screen_known && !state.backlight[0])
                return -ENODATA;
        *ret = state;
        return 0;
}

int display_look(int root_fd, struct display_state *ret)
{
        struct display_files *files;
        int err = display_open(root_fd, &files);

        if (err)
                return err;
        err = display_read(files, ret);
        display_close(files);
        return err == -ENODATA ? -ENODEV : err;
}
