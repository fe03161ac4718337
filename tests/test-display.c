/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The display of a calibration on trees: which backlight it drives, what it writes, and what it takes from a driver. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "display-part.h"
#include "display.h"
#include "tree.h"

#define PANEL "sys/class/backlight/panel"

struct desk {
        char dir[64], journal[96], said[1024];
        struct log log;
        int root_fd;
        struct settings *settings;
        struct part *part;
};

static void keep(void *data, enum log_level level, const char *sentence)
{
        struct desk *desk = data;

        snprintf(desk->said, sizeof(desk->said), "%s", sentence);
}

static void put(const struct desk *desk, const char *path, const char *text)
{
        check(tree_write(desk->dir, path, text, strlen(text)));
}

static const char *get(const struct desk *desk, const char *path)
{
        static char text[64];

        check(util_read_at(desk->root_fd, path, text, sizeof(text)) >= 0);
        text[strcspn(text, "\n")] = '\0';
        return text;
}

static void put_backlight(const struct desk *desk, const char *name, const char *type, const char *max)
{
        const char *const files[][2] = { { "type", type }, { "max_brightness", max }, { "brightness", "7\n" }, { "bl_power", "0\n" } };

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                char path[128];

                snprintf(path, sizeof(path), "sys/class/backlight/%s/%s", name, files[i][0]);
                put(desk, path, files[i][1]);
        }
}

static void make(struct desk *desk)
{
        *desk = (struct desk){ .log = { .handler = keep, .data = desk } };
        snprintf(desk->dir, sizeof(desk->dir), "/tmp/joulecast-display-XXXXXX");
        check(mkdtemp(desk->dir) != NULL);
        snprintf(desk->journal, sizeof(desk->journal), "%s/journal/restore.ini", desk->dir);
        desk->root_fd = open(desk->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_part(struct desk *desk)
{
        const struct machine_hardware machine = { .log = &desk->log };

        return display_part_open(desk->root_fd, &machine, &desk->part);
}

static void begin(struct desk *desk)
{
        check_int(open_part(desk), 0);
        check_int(settings_open(desk->root_fd, desk->journal, &desk->log, &desk->settings), 0);
        check_int(desk->part->ops->prepare(desk->part, desk->settings), 0);
        check_int(settings_commit(desk->settings), 0);
}

static void end(struct desk *desk)
{
        if (desk->part)
                desk->part->ops->close(desk->part);
        settings_close(desk->settings);
        close(desk->root_fd);
        tree_remove(desk->dir);
}

static int light(struct desk *desk, bool on, uint32_t brightness)
{
        const struct mode mode = { .screen_on = on, .brightness = brightness };

        return desk->part->ops->apply(desk->part, &mode);
}

static int look_again(struct desk *desk)
{
        return (desk->part->ops->check)(desk->part); /* in brackets: not the macro of that name */
}

/* The samples look at the same backlight, and say what was asked for. */
static void check_seen(const struct desk *desk, bool on, uint32_t brightness)
{
        struct display_state state;

        check_int(display_look(desk->root_fd, &state), 0);
        check_int(state.screen_on, on);
        if (on)
                check_int(state.brightness, brightness);
}

static void test_levels(void)
{
        struct desk desk;
        struct hardware_description description = { 0 };

        make(&desk);
        put_backlight(&desk, "raw_panel", "raw\n", "96000\n");
        put_backlight(&desk, "panel", "firmware\n", "15\n");
        begin(&desk);
        check_int(desk.part->ops->describe(desk.part, &description), 0);
        check_int(description.max_brightness, 15);
        check_int(light(&desk, true, 12), 0);
        check_seen(&desk, true, 12);
        check_int(light(&desk, false, 0), 0);
        check_text(get(&desk, PANEL "/bl_power"), "4");
        check_seen(&desk, false, 0);
        check_int(light(&desk, true, 0), 0); /* never 0 */
        check_text(get(&desk, PANEL "/brightness"), "1");
        check_text(get(&desk, PANEL "/bl_power"), "0");
        check_int(light(&desk, true, 99), 0);
        check_seen(&desk, true, 15);
        check_text(get(&desk, "sys/class/backlight/raw_panel/brightness"), "7");
        check_text(desk.said, "");
        end(&desk);
}

static void test_somebody_else(void)
{
        struct desk desk;

        make(&desk);
        put_backlight(&desk, "panel", "platform\n", "255\n");
        begin(&desk);
        check_int(light(&desk, true, 178), 0);
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        put(&desk, PANEL "/brightness", "90\n");
        check_int(look_again(&desk), 0);
        check(strstr(desk.said, "from 178 to 90") != NULL);
        check_seen(&desk, true, 178);
        check_int(light(&desk, false, 0), 0);
        put(&desk, PANEL "/brightness", "90\n"); /* dark: it is nobody's business */
        desk.said[0] = '\0';
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        end(&desk);
}

static void test_none(void)
{
        struct desk desk;

        make(&desk);
        check_int(open_part(&desk), -ENODEV);
        put_backlight(&desk, "panel", "raw\n", "0\n"); /* an empty scale */
        check_int(open_part(&desk), -ENODEV);
        end(&desk);
}

/* A driver that takes the value and goes dark, and one whose file is gone. */
static void test_broken(void)
{
        struct desk desk;
        char path[128];

        make(&desk);
        put_backlight(&desk, "panel", "raw\n", "100\n");
        begin(&desk);
        check_int(light(&desk, true, 50), 0);
        snprintf(path, sizeof(path), "%s/" PANEL "/brightness", desk.dir);
        check_int(unlink(path), 0);
        check(look_again(&desk) < 0);
        check(strstr(desk.said, "cannot be read any more") != NULL);
        check(light(&desk, true, 60) < 0);
        check(strstr(desk.said, "cannot be set to 60") != NULL);
        end(&desk);
}

int main(void)
{
        test_levels();
        test_somebody_else();
        test_none();
        test_broken();
        return check_result();
}
