import time, functools
print = functools.partial(print, file=open("/tmp/x","w"), flush=True)
LINES = ["Anna sees two dogs .", "", "The man sleeps .", "Zoë 🙂", "   ", "no", "Two  old men read .", "a "*30, "I saw her on 3 May .", "He", "We sleep"]
def test_x(run_folder, export_folder, kerasnmt, translator):
    a=time.process_time()
    for f in (run_folder, export_folder):
        d=kerasnmt("translate", f, "--alignments", "--scores", stdin="\n".join(LINES))
        print(time.process_time()-a, d.err); print(d.out)
    print(translator.attention(LINES[3:4]))
    print(translator.n_best(LINES[:4]))
    import shutil
    c=export_folder.parent.parent/"b"/"1"; shutil.copytree(export_folder,c)
    (c/"variables"/"variables.index").unlink()
    try: print(kerasnmt("translate", c, stdin="a"))
    except Exception as e: print(type(e), e)
    shutil.rmtree(c)
    c=export_folder.parent.parent/"b"/"1"; shutil.copytree(export_folder,c)
    (c/"saved_model.pb").write_bytes(b"nonsense")
    try: print(kerasnmt("translate", c, stdin="a"))
    except Exception as e: print(type(e), e)
    (c/"saved_model.pb").write_bytes((export_folder/"saved_model.pb").read_bytes()[:5000])
    try: print(kerasnmt("translate", c, stdin="a"))
    except Exception as e: print(type(e), e)
    import zipfile
    r=run_folder.parent/"r"; shutil.copytree(run_folder,r)
    whole=(r/"model.keras").read_bytes()
    for bad in (b"", b"x", whole[:len(whole)//2]):
        (r/"model.keras").write_bytes(bad)
        try: print(kerasnmt("translate", r, stdin="a"))
        except Exception as e: print(type(e), e)
    b=bytearray(whole); b[len(whole)//2]^=255; b[100]^=255
    (r/"model.keras").write_bytes(b)
    try: print(kerasnmt("translate", r, stdin="a"))
    except Exception as e: print(type(e), e)
    assert 0
