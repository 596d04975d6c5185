//! The native module, as cargo builds it. The tests of the package are in Python.

use std::process::Command;

const CODE: &str = "
import sys
from importlib import machinery, util
loader = machinery.ExtensionFileLoader('_native', sys.argv[1])
native = util.module_from_spec(util.spec_from_loader('_native', loader))
loader.exec_module(native)
assert native.parse_toml('tile = [2]') == {'tile': [2]}
assert 'numpy' not in sys.modules
";

#[test]
fn module_needs_no_other_package() {
    let test = std::env::current_exe().expect("the test knows its path");
    let folder = test.parent().expect("the test is in a folder");
    let module = folder.join(format!("{}tdb_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let python = Command::new("python3").args(["-c", CODE]).arg(module).output();
    let output = python.expect("`python3` starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
