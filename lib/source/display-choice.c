/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A machine may have backlights of monitors (DDC/CI, USB), of second screens, of a GPU that drives no panel, and
 * several for one panel. sys/class/backlight/NAME is a link into the device tree, and so is its `device`; both
 * texts together show connector and GPU. Trees of files may have none of them.
 */

#include "display-choice.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "display-lit.h"
#include "util/config.h"
#include "util/util.h"
#include "util/words.h"

#define CONNECTORS_MAX 32
#define LINK_MAX 512

struct connector {
        char name[64]; /* "card0-eDP-1"; or "card0", a GPU, which may have no connector */
        char card[16], gpu[64]; /* "card0", "0000:00:02.0"; "": unknown */
        enum connector_kind kind;
        bool connected;
};

struct screens {
        struct connector list[CONNECTORS_MAX];
        size_t n;
};

struct backlight_facts {
        const char *name, *type, *place;   /* place: its links, each in slashes */
        const struct connector *connector; /* its device; NULL: none, or unknown */
        const struct connector *gpu;       /* any connector of the GPU below which it is; NULL: unknown */
        const struct screens *screens;
};

static bool built_in(const struct connector *connector)
{
        return connector->kind & (CONNECTOR_PANEL | CONNECTOR_DSI) && connector->connected;
}

static bool same_gpu(const struct connector *one, const struct connector *other)
{
        return strcmp(one->card, other->card) == 0 || (*one->gpu && strcmp(one->gpu, other->gpu) == 0);
}

/* How many panels of these kinds are connected, on the GPU of @of (NULL: on any)? */
static size_t count_panels(const struct screens *screens, const struct connector *of, unsigned kinds)
{
        size_t n = 0;

        for (size_t i = 0; i < screens->n; i++)
                n += built_in(&screens->list[i]) && screens->list[i].kind & kinds &&
                     (!of || same_gpu(&screens->list[i], of));
        return n;
}

static bool has_any_panel(const struct screens *screens, const struct connector *of)
{
        return count_panels(screens, of, CONNECTOR_PANEL | CONNECTOR_DSI) > 0;
}

static bool named(const struct backlight_facts *facts, const char *pattern)
{
        return fnmatch(pattern, facts->name, FNM_CASEFOLD) == 0;
}

static bool placed(const struct backlight_facts *facts, const char *pattern)
{
        return fnmatch(pattern, facts->place, 0) == 0;
}

/* DDC/CI has the address 0x37 of the monitor's bus. */
static bool is_monitors(const struct backlight_facts *facts)
{
        return named(facts, "ddcci*") || placed(facts, "*/ddcci*") || placed(facts, "*-0037/*") ||
               named(facts, "appledisplay*") || placed(facts, "*/usb[0-9]*");
}

static bool is_second_screens(const struct backlight_facts *facts)
{
        return named(facts, "*screenpad*") || named(facts, "*touch*bar*") || named(facts, "appletb*");
}

static bool is_strips(const struct backlight_facts *facts)
{
        return facts->connector && facts->connector->kind == CONNECTOR_STRIP;
}

static bool is_dsis(const struct backlight_facts *facts)
{
        return facts->connector ? facts->connector->kind == CONNECTOR_DSI
                                : named(facts, "*dsi*") || placed(facts, "*dsi*");
}

static bool is_dsi_beside_panel(const struct backlight_facts *facts)
{
        return is_dsis(facts) && count_panels(facts->screens, NULL, CONNECTOR_PANEL) > 0;
}

/* Phones: the backlight is below the panel or its bus, and not below the connector. */
static bool is_dsi_panels(const struct backlight_facts *facts)
{
        return !facts->connector && is_dsis(facts) && count_panels(facts->screens, NULL, CONNECTOR_DSI) > 0;
}

/* With the lid closed some drivers show the panel disconnected: then no other one is connected. */
static bool is_dark_connectors(const struct backlight_facts *facts)
{
        const struct connector *connector = facts->connector;

        return connector && (connector->kind & (CONNECTOR_MONITOR | CONNECTOR_OTHER) ||
                             (!connector->connected && has_any_panel(facts->screens, NULL)));
}

static bool is_unused_gpus(const struct backlight_facts *facts)
{
        return facts->gpu && !has_any_panel(facts->screens, facts->gpu) && has_any_panel(facts->screens, NULL);
}

static bool is_panels(const struct backlight_facts *facts)
{
        return facts->connector && built_in(facts->connector);
}

static bool is_panels_gpus(const struct backlight_facts *facts)
{
        return !facts->connector && facts->gpu && has_any_panel(facts->screens, facts->gpu);
}

static bool is_firmwares(const struct backlight_facts *facts)
{
        return strncmp(facts->type, "firmware", 8) == 0;
}

static bool is_platforms(const struct backlight_facts *facts)
{
        return strncmp(facts->type, "platform", 8) == 0;
}

/* If two GPUs could drive the panel and it is not known which one does: mostly it is the processor's. */
static bool is_second_gpus(const struct backlight_facts *facts)
{
        return named(facts, "nvidia_[0-9]*") || named(facts, "nv_backlight*");
}

/*
 * All that apply are added. Firmware before platform before raw, for one panel, is of
 * Documentation/ABI/stable/sysfs-class-backlight. Firmware without a connector and a driver that only shows its GPU
 * are equal: on some laptops the one has no effect, on some the other.
 */
static const struct rule {
        bool (*applies)(const struct backlight_facts *facts);
        int points, likely;
        const char *why;
} rules[] = {
        { is_monitors, -64, 0, N_("it is a monitor's, over DDC/CI or USB") },
        { is_second_screens, -64, 0, N_("by its name it is a second screen's or a Touch Bar's") },
        { is_strips, -64, 0, N_("its panel is a strip, such as a Touch Bar") },
        { is_dsi_beside_panel, -64, 0, N_("it is a DSI panel's beside the main panel (eDP or LVDS)") },
        { is_dark_connectors, -32, 0, N_("its device is no connected built-in connector") },
        { is_unused_gpus, -32, 0, N_("its GPU drives no built-in panel") },
        { is_panels, 12, 1, N_("its device is the connected built-in connector") },
        { is_dsi_panels, 6, 0, N_("it is a DSI panel's, and such a panel is connected") },
        { is_panels_gpus, 6, 0, N_("its device is the GPU of the connected built-in connector") },
        { is_firmwares, 6, 0, N_("its type is firmware") },
        { is_platforms, 1, 0, N_("its type is platform") },
        { is_second_gpus, 0, -1, N_("by its name it is a second GPU's") },
};

static void read_link(int dir_fd, const char *path, char *buf, size_t size)
{
        ssize_t length = readlinkat(dir_fd, path, buf, size - 1);

        buf[MAX(length, 0)] = '\0';
}

static void read_connector(int dir_fd, const char *name, struct connector *ret)
{
        char path[320], text[LINK_MAX];
        const char *slash;

        snprintf(path, sizeof(path), "%s/modes", name);
        *ret = (struct connector){
                .kind = display_connector_kind(name, util_read_at(dir_fd, path, text, sizeof(text)) > 0 ? text : ""),
        };
        snprintf(ret->name, sizeof(ret->name), "%s", name);
        snprintf(ret->card, sizeof(ret->card), "%.*s", (int)strcspn(name, "-"), name);
        snprintf(path, sizeof(path), "%s/status", name);
        ret->connected = util_read_at(dir_fd, path, text, sizeof(text)) < 0 || strncmp(text, "disconnected", 12) != 0;
        snprintf(path, sizeof(path), "%s/device", ret->card);
        read_link(dir_fd, path, text, sizeof(text));
        slash = strrchr(text, '/');
        snprintf(ret->gpu, sizeof(ret->gpu), "%.63s", slash ? slash + 1 : text);
}

static int read_screens(int root_fd, struct screens *ret)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/drm");
        const struct dirent *entry;

        if (!dir)
                return errno == ENOMEM ? -ENOMEM : 0;
        while ((entry = readdir(dir)) && ret->n < ARRAY_SIZE(ret->list))
                if (strncmp(entry->d_name, "card", 4) == 0 &&
                    !strstr(entry->d_name, "Writeback") && strlen(entry->d_name) < sizeof(ret->list[0].name))
                        read_connector(dirfd(dir), entry->d_name, &ret->list[ret->n++]);
        return 0;
}

static bool has_part(const char *place, const char *part)
{
        char text[80];

        snprintf(text, sizeof(text), "/%s/", part);
        return *part && strstr(place, text);
}

static void judge(const struct backlight_facts *facts, struct backlight_candidate *candidate)
{
        int strongest = 0;

        candidate->why = "";
        for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
                if (!rules[i].applies(facts))
                        continue;
                candidate->points += rules[i].points;
                candidate->likely += rules[i].likely;
                if (abs(rules[i].points) > strongest || !*candidate->why)
                        candidate->why = rules[i].why;
                strongest = MAX(strongest, abs(rules[i].points));
        }
}

/* False: it cannot be read. */
static bool read_candidate(int dir_fd, const char *name, const struct screens *screens, struct backlight_candidate *ret)
{
        char path[320], type[32] = "", link[LINK_MAX], device[LINK_MAX], place[2 * LINK_MAX + 8];
        struct backlight_facts facts = { .name = name, .type = type, .place = place, .screens = screens };
        uint64_t max;

        *ret = (struct backlight_candidate){ .points = 0 };
        snprintf(path, sizeof(path), "%s/max_brightness", name);
        if (strlen(name) >= sizeof(ret->name) || util_read_at(dir_fd, path, type, sizeof(type)) < 0 ||
            util_parse_u64(type, &max) < 0 || max == 0)
                return false;
        memcpy(ret->name, name, strlen(name) + 1);
        ret->max = (uint32_t)MIN(max, UINT32_MAX);
        snprintf(path, sizeof(path), "%s/type", name);
        if (util_read_at(dir_fd, path, type, sizeof(type)) < 0)
                type[0] = '\0';
        snprintf(path, sizeof(path), "%s/device", name);
        read_link(dir_fd, name, link, sizeof(link));
        read_link(dir_fd, path, device, sizeof(device));
        snprintf(place, sizeof(place), "/%s/%s/", link, device);
        for (size_t i = 0; i < screens->n; i++) {
                const struct connector *connector = &screens->list[i];

                if (strchr(connector->name, '-') && has_part(place, connector->name))
                        facts.connector = connector;
                if (has_part(place, connector->name) || has_part(place, connector->card) ||
                    has_part(place, connector->gpu))
                        facts.gpu = connector;
        }
        judge(&facts, ret);
        ret->of_several = !facts.connector && count_panels(screens, facts.gpu, CONNECTOR_PANEL) > 1;
        return true;
}

static int by_points(const void *a, const void *b)
{
        const struct backlight_candidate *one = a, *other = b;

        if (one->points != other->points)
                return one->points > other->points ? -1 : 1;
        if (one->likely != other->likely)
                return one->likely > other->likely ? -1 : 1;
        return strcmp(one->name, other->name);
}

static int read_candidates(int root_fd, struct backlight_choice *choice)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/backlight");
        struct screens screens = { .n = 0 };
        const struct dirent *entry;
        int err = dir ? read_screens(root_fd, &screens) : errno == ENOMEM ? -ENOMEM : 0;

        while (dir && !err && choice->n < ARRAY_SIZE(choice->list) && (entry = readdir(dir)))
                if (entry->d_name[0] != '.' &&
                    read_candidate(dirfd(dir), entry->d_name, &screens, &choice->list[choice->n]))
                        choice->n++;
        qsort(choice->list, choice->n, sizeof(choice->list[0]), by_points);
        return err;
}

static int take_wanted(const char *wanted, struct backlight_choice *choice)
{
        for (size_t i = 0; i < choice->n; i++) {
                struct backlight_candidate found = choice->list[i];

                if (strcmp(found.name, wanted) != 0)
                        continue;
                memmove(&choice->list[1], &choice->list[0], i * sizeof(found));
                found.why = N_("joulecast.conf names it");
                choice->list[0] = found;
                choice->taken = choice->known = choice->certain = true;
                return 0;
        }
        return -ENOENT;
}

static void take_best(struct backlight_choice *choice)
{
        const struct backlight_candidate *first = &choice->list[0], *second = choice->n > 1 ? &choice->list[1] : NULL;

        choice->taken = choice->n > 0 && first->points >= 0;
        choice->certain = choice->taken && !first->of_several && (!second || first->points > second->points);
        choice->known = choice->certain || (choice->taken && second && first->likely > second->likely);
}

int display_choose(int root_fd, const char *wanted, struct backlight_choice *ret)
{
        _cleanup_free_ char *configured = NULL;
        struct backlight_choice choice = { .n = 0 };
        int err = read_candidates(root_fd, &choice);

        if (!err && !wanted)
                err = config_read_backlight(&configured);
        if (err)
                return err;
        wanted = wanted ? wanted : configured;
        if (strcmp(wanted, "auto") == 0)
                take_best(&choice);
        else
                err = take_wanted(wanted, &choice);
        *ret = choice;
        return err;
}

int display_explain_choice(int root_fd, const char *wanted, char *buf, size_t size)
{
        _cleanup_free_ char *configured = NULL;
        struct backlight_choice choice;
        char names[256] = "", name[128];
        int err = wanted ? 0 : config_read_backlight(&configured);

        wanted = wanted ? wanted : configured;
        err = err ? err : display_choose(root_fd, wanted, &choice);
        if (err != -ENOENT)
                return err;
        for (size_t i = 0, length = 0; i < choice.n && length < sizeof(names); i++)
                length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", i ? ", " : "",
                                           choice.list[i].name);
        snprintf(buf, size,
                 _("joulecast.conf: backlight = %s: there is no such name in sys/class/backlight, only: %s; "
                   "write one of these, or auto"),
                 util_printable(wanted, name, sizeof(name)), *names ? names : _("none"));
        return err;
}
