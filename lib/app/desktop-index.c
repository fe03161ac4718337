/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "desktop-entry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "util/units.h"
#include "util/util.h"

#define ENTRY_BYTES_MAX (256 * 1024) /* the longest in Debian has 60 KB, all translations */
#define ENTRIES_MAX 10000
#define DEPTH_MAX 4                  /* applications/vendor/app.desktop */

static const char system_folders[] =
        "/usr/local/share:/usr/share:/var/lib/flatpak/exports/share:/var/lib/snapd/desktop";

struct desktop_index {
        int root_fd;
        char *folders, *locale;
        struct desktop_entry *entries; /* ascending by id, ignoring case */
        size_t n, capacity;
        uint64_t stamp;                /* hash of the folders' times and inodes: shows changes */
        char *buffer;
};

static void drop_entries(struct desktop_index *index)
{
        for (size_t i = 0; i < index->n; i++)
                desktop_entry_clear(&index->entries[i]);
        index->n = 0;
}

void desktop_index_free(struct desktop_index *index)
{
        if (!index)
                return;
        drop_entries(index);
        closep(&index->root_fd);
        free(index->entries);
        free(index->folders);
        free(index->locale);
        free(index);
}

static int by_id(const void *a, const void *b)
{
        const struct desktop_entry *x = a, *y = b;
        int order = strcasecmp(x->id, y->id);

        return order ? order : strcmp(x->id, y->id);
}

static const struct desktop_entry *unsorted_by_id(const struct desktop_index *index, const char *id)
{
        for (size_t i = 0; i < index->n; i++)
                if (strcmp(index->entries[i].id, id) == 0)
                        return &index->entries[i];
        return NULL;
}

/* An entry in an earlier folder replaces later ones with the same id, even if it is Hidden. */
static void add_entry(struct desktop_index *index, int dir_fd, const char *file, const char *id, bool snap)
{
        struct desktop_entry entry = { .snap = snap };

        if (index->n >= ENTRIES_MAX || unsorted_by_id(index, id))
                return;
        if (util_read_at(dir_fd, file, index->buffer, ENTRY_BYTES_MAX) < 0)
                return;
        if (desktop_entry_parse(index->buffer, index->locale, &entry) == 0) {
                entry.id = strdup(id);
                if (entry.id && util_grow(&index->entries, &index->capacity, index->n + 1,
                                          sizeof(entry)) == 0) {
                        index->entries[index->n++] = entry;
                        return;
                }
        }
        desktop_entry_clear(&entry);
}

static void read_folder(struct desktop_index *index, int parent_fd, const char *path, const char *prefix,
                        bool snap,
                        int depth)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(parent_fd, path);
        const struct dirent *file;

        if (!dir)
                return;
        while ((file = readdir(dir))) {
                size_t length = strlen(file->d_name);
                char id[256];

                if (file->d_name[0] == '.' || snprintf(id, sizeof(id), "%s%s", prefix,
                                                       file->d_name) >= (int)sizeof(id))
                        continue;
                if (length > 8 && strcmp(file->d_name + length - 8, ".desktop") == 0) {
                        id[strlen(id) - 8] = '\0';
                        add_entry(index, dirfd(dir), file->d_name, id, snap);
                } else if ((file->d_type == DT_DIR || file->d_type == DT_UNKNOWN) && depth < DEPTH_MAX &&
                           strlen(id) + 1 < sizeof(id)) {
                        strcat(id, "-"); /* vendor/app.desktop has the id vendor-app */
                        read_folder(index, dirfd(dir), file->d_name, id, snap, depth + 1);
                }
        }
}

/* Calls @folder for each data folder, with its path relative to root_fd. */
static void each_folder(struct desktop_index *index, void (*folder)(struct desktop_index *, const char *path))
{
        for (const char *at = index->folders; *at; at += strcspn(at, ":"), at += *at == ':') {
                size_t length = strcspn(at, ":");
                char path[512];

                while (length > 0 && *at == '/') {
                        at++;
                        length--;
                }
                if (snprintf(path, sizeof(path), "%.*s/applications", (int)length, at) < (int)sizeof(path))
                        folder(index, path);
        }
}

static void stamp_folder(struct desktop_index *index, const char *path)
{
        struct stat status;

        if (fstatat(index->root_fd, path, &status, 0) == 0)
                index->stamp = index->stamp * 31 + (uint64_t)status.st_mtim.tv_sec * NS_PER_S +
                               (uint64_t)status.st_mtim.tv_nsec + status.st_ino;
        else
                index->stamp = index->stamp * 31 + 1;
}

static void fill_from(struct desktop_index *index, const char *path)
{
        read_folder(index, index->root_fd, path, "", strstr(path, "snapd/") != NULL, 0);
}

bool desktop_index_refresh(struct desktop_index *index)
{
        uint64_t before = index->stamp;

        index->stamp = 0;
        each_folder(index, stamp_folder);
        if (index->stamp == before)
                return false;
        index->buffer = malloc(ENTRY_BYTES_MAX);
        if (!index->buffer)
                return false;
        drop_entries(index);
        each_folder(index, fill_from);
        if (index->n > 0)
                qsort(index->entries, index->n, sizeof(*index->entries), by_id);
        free(TAKE_PTR(index->buffer));
        return true;
}

static void desktop_index_freep(struct desktop_index **index)
{
        desktop_index_free(*index);
}

int desktop_index_open(int root_fd, const char *folders, const char *locale, struct desktop_index **ret)
{
        _cleanup_(desktop_index_freep) struct desktop_index *index = calloc(1, sizeof(*index));

        if (!index)
                return -ENOMEM;
        index->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (index->root_fd < 0)
                return -errno;
        index->folders = strdup(folders ? folders : system_folders);
        if (!index->folders)
                return -ENOMEM;
        if (locale && *locale && strcmp(locale, "C") != 0 && strcmp(locale, "POSIX") != 0) {
                index->locale = strdup(locale);
                if (!index->locale)
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(index);
        return 0;
}

int desktop_index_new(int root_fd, const char *folders, const char *locale, struct desktop_index **ret)
{
        int err = desktop_index_open(root_fd, folders, locale, ret);

        if (!err)
                desktop_index_refresh(*ret);
        return err;
}

char *desktop_folders_of_user(void)
{
        const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME"), *dirs = getenv("XDG_DATA_DIRS");
        char *text;

        if (!home)
                home = "/nonexistent";
        if (asprintf(&text, "%s%s:%s/.local/share/flatpak/exports/share:%s:%s", data && *data ? data : home,
                     data && *data ? "" : "/.local/share", home, dirs ? dirs : "", system_folders) < 0)
                return NULL;
        return text;
}

/* Not by setlocale(): numbers stay in the C locale, and the locale need not be installed. */
static const char *locale_of_user(void)
{
        static const char *const variables[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

        for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
                const char *value = getenv(variables[i]);

                if (value && *value)
                        return value;
        }
        return NULL;
}

struct desktop_index *desktop_index_of_user(void)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_free_ char *folders = desktop_folders_of_user();
        struct desktop_index *index = NULL;

        return folders && desktop_index_new(root_fd, folders, locale_of_user(), &index) == 0 ? index : NULL;
}

static int compare_id(const void *id, const void *element)
{
        return strcasecmp(id, ((const struct desktop_entry *)element)->id);
}

/* The first of the ids that are equal if case is ignored. */
static size_t lower_bound(const struct desktop_index *index, const char *id)
{
        return util_lower_bound(id, index->entries, index->n, sizeof(*index->entries), compare_id);
}

const struct desktop_entry *desktop_by_id(const struct desktop_index *index, const char *id)
{
        size_t first = lower_bound(index, id);

        for (size_t i = first; i < index->n && strcasecmp(index->entries[i].id, id) == 0; i++)
                if (strcmp(index->entries[i].id, id) == 0)
                        return &index->entries[i];
        if (first < index->n && strcasecmp(index->entries[first].id, id) == 0)
                return &index->entries[first];
        return NULL;
}

const char *desktop_last_part(const char *id)
{
        const char *dot = strrchr(id, '.');

        return dot && dot[1] ? dot + 1 : id;
}

/*
 * A program may have several entries (libreoffice --writer, --calc). Take the one with the program's name, else one
 * that starts it without arguments, else the only one.
 */
const struct desktop_entry *desktop_by_program(const struct desktop_index *index, const char *program)
{
        const struct desktop_entry *best = NULL;
        int best_rank = 0;
        bool tie = false;

        for (size_t i = 0; i < index->n; i++) {
                const struct desktop_entry *entry = &index->entries[i];
                int rank;

                if (!entry->program || strcmp(entry->program, program) != 0)
                        continue;
                rank = strcasecmp(entry->id, program) == 0                      ? 4
                       : strcasecmp(desktop_last_part(entry->id), program) == 0 ? 3
                       : entry->plain                                           ? 2
                                                                                : 1;
                tie = rank == best_rank;
                if (rank > best_rank) {
                        best_rank = rank;
                        best = entry;
                }
        }
        return tie && best_rank == 1 ? NULL : best;
}

const struct desktop_entry *desktop_by_window(const struct desktop_index *index, const char *app_id)
{
        const struct desktop_entry *entry = desktop_by_id(index, app_id);

        for (size_t i = 0; !entry && i < index->n; i++)
                if (index->entries[i].class && strcasecmp(index->entries[i].class, app_id) == 0)
                        entry = &index->entries[i];
        return entry ? entry : desktop_by_program(index, app_id);
}
