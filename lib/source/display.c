/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "display.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "display-choice.h"
#include "display-lit.h"
#include "model/usage.h"
#include "util/util.h"

#define CONNECTORS_MAX 16

struct connector {
        enum connector_kind kind;
        unsigned card;
        bool silent;               /* see struct connector_says */
        int status, enabled, dpms; /* descriptors, or -1 */
};

struct display_files {
        char backlight[64];            /* the one that drives the panel; "": none */
        int brightness, actual, power; /* its files */
        uint32_t max;
        bool known, certain;           /* see struct backlight_choice */
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

static int open_backlight(int root_fd, const char *wanted, struct display_files *files)
{
        char path[96];
        struct backlight_choice choice;
        int err = display_choose(root_fd, wanted, &choice);

        if (err && err != -ENOENT)
                return err;
        if (!choice.taken)
                return 0;
        memcpy(files->backlight, choice.list[0].name, sizeof(files->backlight));
        files->max = choice.list[0].max;
        files->known = choice.known;
        files->certain = choice.certain;
        snprintf(path, sizeof(path), "sys/class/backlight/%s", files->backlight);
        files->brightness = open_in(root_fd, path, "brightness");
        files->actual = open_in(root_fd, path, "actual_brightness");
        files->power = open_in(root_fd, path, "bl_power");
        return 0;
}

/* nvidia-drm shows "disabled", and "On" or "Off", independently of the screen's state. */
static bool is_silent(int drm_fd, unsigned card, enum connector_kind kind, const char *backlight)
{
        char path[64], driver[256];
        ssize_t length;

        if (kind & (CONNECTOR_PANEL | CONNECTOR_DSI) && strncmp(backlight, "nvidia_", 7) == 0)
                return true;
        snprintf(path, sizeof(path), "card%u/device/driver", card);
        length = readlinkat(drm_fd, path, driver, sizeof(driver) - 1);
        if (length <= 0)
                return false;
        driver[length] = '\0';
        return strncmp(util_base_name(driver), "nvidia", 6) == 0;
}

static enum connector_kind read_kind(int drm_fd, const char *name)
{
        char path[320], modes[64];

        snprintf(path, sizeof(path), "%s/modes", name);
        return display_connector_kind(name, util_read_at(drm_fd, path, modes, sizeof(modes)) > 0 ? modes : "");
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
                if (sscanf(entry->d_name, "card%u", &connector->card) != 1)
                        continue;
                connector->kind = read_kind(dirfd(dir), entry->d_name);
                connector->silent = is_silent(dirfd(dir), connector->card, connector->kind, files->backlight);
                connector->status = open_in(dirfd(dir), entry->d_name, "status");
                connector->enabled = open_in(dirfd(dir), entry->d_name, "enabled");
                connector->dpms = open_in(dirfd(dir), entry->d_name, "dpms");
                files->n++;
        }
        return 0;
}

int display_open(int root_fd, const char *wanted, struct display_files **ret)
{
        struct display_files *files = calloc(1, sizeof(*files));
        int err;

        if (!files)
                return -ENOMEM;
        files->brightness = files->actual = files->power = -1;
        err = open_backlight(root_fd, wanted, files);
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

static enum lit says(int fd, const char *on)
{
        char word[32];

        return !text(fd, word, sizeof(word)) ? LIT_UNKNOWN : strcmp(word, on) == 0 ? LIT_ON : LIT_OFF;
}

static struct screen_lit read_lit(const struct display_files *files, bool has_level)
{
        struct connector_says list[CONNECTORS_MAX];
        uint32_t power;
        bool has_power = number(files->power, &power); /* other than 0 (FB_BLANK_UNBLANK) is off */

        for (size_t i = 0; i < files->n; i++) {
                const struct connector *connector = &files->connectors[i];

                list[i] = (struct connector_says){
                        .kind = connector->kind, .card = connector->card, .silent = connector->silent,
                        .connected = says(connector->status, "disconnected") != LIT_ON,
                        .enabled = says(connector->enabled, "enabled"), .dpms = says(connector->dpms, "On"),
                };
        }
        return display_lit(list, files->n, !has_power ? LIT_UNKNOWN : power == 0 ? LIT_ON : LIT_OFF, has_level);
}

int display_read(const struct display_files *files, struct display_state *ret)
{
        struct display_state state = { .max_brightness = files->max, .certain = files->certain };
        /* Not actual_brightness first: with some drivers its scale differs from the one that calibration sets. */
        bool has_level = number(files->brightness, &state.brightness) || number(files->actual, &state.brightness);
        struct screen_lit lit = read_lit(files, has_level);

        memcpy(state.backlight, files->backlight, sizeof(state.backlight));
        if (!has_level || state.brightness > files->max || !files->known)
                state.brightness = BRIGHTNESS_UNKNOWN;
        state.has_panel = lit.has_panel;
        state.screen_known = lit.panel != LIT_UNKNOWN;
        state.screen_on = lit.panel == LIT_ON;
        state.monitor_on = lit.monitor != LIT_OFF;
        if (!state.screen_known && !state.backlight[0])
                return -ENODATA;
        *ret = state;
        return 0;
}

int display_look(int root_fd, struct display_state *ret)
{
        struct display_files *files;
        int err = display_open(root_fd, NULL, &files);

        if (err)
                return err;
        err = display_read(files, ret);
        display_close(files);
        return err == -ENODATA ? -ENODEV : err;
}
