/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "desktop-entry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app-command.h"
#include "steam-name.h"
#include "util/units.h"
#include "util/util.h"

#define ENTRY_BYTES_MAX (256 * 1024) /* the longest in Debian has 60 KB, all translations */
#define ENTRIES_MAX 10000
#define LINKS_MAX 8
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

/* Folders in which programs of many apps are. */
static bool is_shared(const char *folder)
{
        const char *base = util_base_name(folder);

        return app_is_listed("bin games lib lib64 libexec local opt sbin share usr", base, strlen(base)) || !*base ||
               strstr(base, "-linux-gnu");
}

/* "usr/bin" and "../lib/x": "usr/lib/x". */
static void join(const char *folder, const char *link, char *ret, size_t size)
{
        int length = (int)strlen(folder);

        for (; strncmp(link, "../", 3) == 0; link += 3)
                while (length > 0 && folder[--length] != '/')
                        ;
        if (*link == '/')
                length = 0;
        link += strspn(link, "/");
        snprintf(ret, size, "%.*s%s%s", length, folder, length ? "/" : "", link);
}

/* Follows the links from @path, which is relative to the root, to its file's folder. false: there is no such file. */
static bool resolve(int root_fd, char *path, size_t size)
{
        for (int i = 0; i < LINKS_MAX; i++) {
                char target[512], folder[1024], *slash = strrchr(path, '/');
                ssize_t n = readlinkat(root_fd, path, target, sizeof(target) - 1);

                if (n < 0 && errno != EINVAL)
                        return false;
                if (slash)
                        *slash = '\0';
                if (n < 0)
                        return slash != NULL;
                target[n] = '\0';
                snprintf(folder, sizeof(folder), "%.*s", (int)sizeof(folder) - 1, slash ? path : "");
                join(folder, target, path, size);
        }
        return false;
}

static void set_folder(const struct desktop_index *index, struct desktop_entry *entry)
{
        static const char *const places[] = { "usr/local/bin/", "usr/bin/", "usr/games/", "bin/" };
        bool absolute = entry->path && entry->path[0] == '/', found = false;
        char path[1024];

        for (size_t i = 0; entry->path && !found && i < (absolute ? 1 : ARRAY_SIZE(places)); i++) {
                snprintf(path, sizeof(path), "%s%.500s", absolute ? "" : places[i], entry->path + absolute);
                found = resolve(index->root_fd, path, sizeof(path));
        }
        if (found)
                entry->folder = strdup(path);
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
                set_folder(index, &entry);
                if (entry.id && util_grow(&index->entries, &index->capacity, index->n + 1,
                                          sizeof(entry)) == 0) {
                        index->entries[index->n++] = entry;
                        return;
                }
        }
        desktop_entry_clear(&entry);
}

static void read_folder(struct desktop_index *index, int parent_fd, const char *path, const char *prefix,
                        bool snap, int depth)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(parent_fd, path);
        const struct dirent *file;

        if (!dir)
                return;
        while ((file = readdir(dir))) {
                char id[256], *end;

                if (file->d_name[0] == '.' || snprintf(id, sizeof(id), "%s%s", prefix,
                                                       file->d_name) >= (int)sizeof(id))
                        continue;
                end = app_before(id, ".desktop");
                if (end) {
                        *end = '\0';
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

bool desktop_steam_name(const struct desktop_index *index, unsigned number, char *ret, size_t size)
{
        return steam_name(index->root_fd, index->folders, number, ret, size);
}

/* The data folders of this process's user, from the environment, with flatpak's and snap's exports. malloc()ed. */
static char *folders_of_user(void)
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
        _cleanup_free_ char *folders = folders_of_user();
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
        return first < index->n && strcasecmp(index->entries[first].id, id) == 0 ? &index->entries[first] : NULL;
}

const char *desktop_last_part(const char *id)
{
        const char *dot = strrchr(id, '.');

        return dot && dot[1] ? dot + 1 : id;
}

enum { RANK_NONE, RANK_WORD, RANK_ID_ONLY, RANK_ARGUMENTS, RANK_PLAIN, RANK_LAST_PART, RANK_ID };

/*
 * A program may have several entries (libreoffice --writer, --calc). Take the one with the program's name, else one
 * that starts it without arguments, else the only one; then one with that name whose program is not known, and the only
 * one that has it among the arguments of a program which may run it ("apulse firefox").
 */
static int rank_by_program(const struct desktop_entry *entry, const char *program)
{
        if (!entry->program && app_command_same(entry->id, program))
                return RANK_ID_ONLY;
        if (!entry->program || !app_command_same(entry->program, program))
                return entry->words && util_is_word(entry->words, program) ? RANK_WORD : RANK_NONE;
        if (strcasecmp(entry->id, program) == 0)
                return RANK_ID;
        if (strcasecmp(desktop_last_part(entry->id), program) == 0)
                return RANK_LAST_PART;
        return entry->plain ? RANK_PLAIN : RANK_ARGUMENTS;
}

static int rank_by_folder(const struct desktop_entry *entry, const char *path)
{
        size_t length = entry->folder ? strlen(entry->folder) : 0;

        if (!length || strncmp(path, entry->folder, length) != 0 || path[length] != '/' ||
            strchr(path + length + 1, '/') || is_shared(entry->folder))
                return RANK_NONE;
        return entry->plain ? RANK_PLAIN : RANK_ARGUMENTS;
}

static int rank_below(const struct desktop_entry *entry, const char *folder)
{
        size_t length = strlen(folder);

        if (!entry->folder || strncmp(entry->folder, folder, length) != 0 || !strchr("/", entry->folder[length]))
                return RANK_NONE;
        return entry->plain ? RANK_PLAIN : RANK_ARGUMENTS;
}

static const struct desktop_entry *best(const struct desktop_index *index, const char *key,
                                        int (*rank)(const struct desktop_entry *entry, const char *key))
{
        const struct desktop_entry *found = NULL;
        int best_rank = RANK_NONE;
        bool tie = false;

        for (size_t i = 0; i < index->n; i++) {
                int one = rank(&index->entries[i], key);

                tie = one > best_rank ? false : tie || one == best_rank;
                if (one > best_rank) {
                        best_rank = one;
                        found = &index->entries[i];
                }
        }
        return tie && (best_rank == RANK_ARGUMENTS || best_rank == RANK_WORD) ? NULL : found;
}

const struct desktop_entry *desktop_by_program(const struct desktop_index *index, const char *program)
{
        return best(index, program, rank_by_program);
}

const struct desktop_entry *desktop_by_file(const struct desktop_index *index, const char *path)
{
        return best(index, path + strspn(path, "/"), rank_by_folder);
}

const struct desktop_entry *desktop_by_folder(const struct desktop_index *index, const char *folder)
{
        return best(index, folder + strspn(folder, "/"), rank_below);
}

const struct desktop_entry *desktop_by_window(const struct desktop_index *index, const char *app_id)
{
        const struct desktop_entry *entry = desktop_by_id(index, app_id);

        for (size_t i = 0; !entry && i < index->n; i++)
                if (index->entries[i].class && strcasecmp(index->entries[i].class, app_id) == 0)
                        entry = &index->entries[i];
        return entry ? entry : desktop_by_program(index, app_id);
}
